/// The life of one connection, without a socket: bytes and decisions go in, actions come out.
///
/// One request is answered at a time. The server reads nothing while a request waits for its answer; bytes that a
/// client sends ahead stay in the kernel's buffers.
struct HTTPConnectionMachine {
    /// An action for the owner of the connection.
    enum Action {
        /// Decide whether the body of this request is read, and call `admitted`; its length if that is known.
        case admit(HTTPRequest, bodyBytes: Int?)
        /// Answer this request, and call `respond`.
        case answer(HTTPRequest)
        /// Build the text of the refusal, and call `respond`.
        case refuse(HTTPRefusal)
        /// Send these bytes, and call `sent` when they have left.
        case send([UInt8])
        /// Send nothing more, and tell the client so.
        case endOutput
        /// Close at once.
        case close
    }

    enum Phase {
        /// Between requests, or before the first.
        case idle
        /// A head has begun.
        case head
        /// The owner decides about the body.
        case admission
        /// The body comes.
        case body
        /// The owner answers.
        case answer
        /// An answer leaves.
        case sending
        /// The answer is written; further bytes of the client are dropped, so that it can read the answer.
        case lingering
        case closed
    }

    /// How much is dropped after the last answer.
    private static let droppedBytesMaximum = 1 << 20

    private let timeouts: HTTPTimeouts
    private let peer: ClientAddress
    /// Whether the peer is a trusted proxy, whose `X-Forwarded-For` names the client.
    private let isTrustedProxy: Bool
    private var parser: HTTPRequestParser
    private(set) var phase = Phase.idle
    /// When the present phase began.
    private(set) var phaseBeganNanoseconds: UInt64
    /// Until when it has to end; nil while the owner is at work.
    private(set) var deadlineNanoseconds: UInt64?
    private var request: HTTPRequest?
    private var body: [UInt8] = []
    private var waitingBodyBytes = 0
    /// Whether the connection ends with the answer that is due.
    private var closesAfterAnswer = false
    private var droppedBytes = 0
    /// Whether a request has been answered.
    private(set) var hasServed = false

    init(
        configuration: HTTPServerConfiguration, peer: ClientAddress, isTrustedProxy: Bool, nowNanoseconds: UInt64
    ) {
        timeouts = HTTPTimeouts(configuration)
        self.peer = peer
        self.isTrustedProxy = isTrustedProxy
        parser = HTTPRequestParser(headBytesMaximum: configuration.headBytesMaximum)
        phaseBeganNanoseconds = nowNanoseconds
        // A silent new client is as slow as one that does not end its head.
        deadlineNanoseconds = nowNanoseconds &+ timeouts.headNanoseconds
    }

    /// Whether bytes from the client are wanted.
    var wantsInput: Bool {
        switch phase {
        case .idle, .head, .body, .lingering: true
        case .admission, .answer, .sending, .closed: false
        }
    }

    /// The received part of the present request's head.
    var head: HTTPRequestHead { parser.head }
    /// How many bytes of a body are held, also while its request waits for the answer.
    var bodyBytes: Int { body.count + waitingBodyBytes }

    // MARK: Events

    /// Bytes have come from the client.
    mutating func received(_ bytes: some Collection<UInt8>, nowNanoseconds now: UInt64) -> [Action] {
        switch phase {
        case .idle, .head, .body:
            parser.append(bytes)
            return proceed(now)
        case .lingering:
            droppedBytes += bytes.count
            return droppedBytes <= Self.droppedBytesMaximum ? [] : close()
        case .admission, .answer, .sending, .closed: return []
        }
    }

    /// The client has closed its side.
    mutating func inputEnded() -> [Action] { wantsInput ? close() : [] }

    /// The owner lets the body come, up to so many bytes.
    mutating func admitted(bodyBytesMaximum: Int, nowNanoseconds now: UInt64) -> [Action] {
        guard phase == .admission else { return [] }
        parser.bodyBytesMaximum = bodyBytesMaximum
        enter(.body, now, for: timeouts.bodyNanoseconds)
        let hasMore = parser.pendingBytes > 0
        let actions = proceed(now)
        guard parser.head.expectsContinue, !hasMore, phase == .body else { return actions }
        return [.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))] + actions
    }

    /// The owner answers the request, or says in its own words why it is refused.
    ///
    /// - Parameters:
    ///   - response: the answer.
    ///   - closes: whether the connection has to end with it.
    ///   - date: the value of the field `Date`.
    ///   - now: the monotonic time.
    /// - Returns: the actions.
    mutating func respond(
        _ response: HTTPResponse, closes: Bool, date: String, nowNanoseconds now: UInt64
    ) -> [Action] {
        guard phase == .answer || phase == .admission else { return [] }
        // A body that was not read stands between this request and the next.
        if closes || phase == .admission { closesAfterAnswer = true }
        enter(.sending, now, for: timeouts.answerNanoseconds)
        release()
        return [.send(response.wireBytes(isHead: parser.head.method == "HEAD", closes: closesAfterAnswer, date: date))]
    }

    /// Everything to be sent has left.
    mutating func sent(nowNanoseconds now: UInt64) -> [Action] {
        guard phase == .sending else { return [] }
        hasServed = true
        guard closesAfterAnswer else {
            parser.beginNext()
            enter(.idle, now, for: timeouts.idleNanoseconds)
            return proceed(now)
        }
        enter(.lingering, now, for: timeouts.lingeringNanoseconds)
        return [.endOutput]
    }

    /// The request cannot be served, however much of it has arrived.
    mutating func refuse(_ refusal: HTTPRefusal, nowNanoseconds now: UInt64) -> [Action] {
        closesAfterAnswer = true
        release()
        enter(.answer, now, for: nil)
        return [.refuse(refusal)]
    }

    /// The deadline has passed.
    mutating func expired(nowNanoseconds now: UInt64) -> [Action] {
        switch phase {
        case .head, .body: refuse(.tooSlow, nowNanoseconds: now)
        case .idle, .sending, .lingering: close()
        case .admission, .answer, .closed: []
        }
    }

    /// Ends it all.
    mutating func close() -> [Action] {
        guard phase != .closed else { return [] }
        phase = .closed
        deadlineNanoseconds = nil
        release()
        return [.close]
    }

    // MARK: Within

    private mutating func enter(_ next: Phase, _ now: UInt64, for nanoseconds: UInt64?) {
        phase = next
        phaseBeganNanoseconds = now
        deadlineNanoseconds = nanoseconds.map { now &+ $0 }
    }

    private mutating func release() {
        request = nil
        body = []
        waitingBodyBytes = 0
    }

    private mutating func proceed(_ now: UInt64) -> [Action] {
        while true {
            switch parser.next() {
            case .needsMore:
                if phase == .idle, !parser.isBetweenRequests { beginHead(now) }
                return []
            case .head(let head): return begin(head, now)
            case .body(let piece): body += piece
            case .end:
                guard let request = request?.with(body: body) else { return close() }
                release()
                waitingBodyBytes = request.body.count
                enter(.answer, now, for: nil)
                return [.answer(request)]
            case .refused(let refusal): return refuse(refusal, nowNanoseconds: now)
            }
        }
    }

    /// The first head has the time that the connection has had since its beginning.
    private mutating func beginHead(_ now: UInt64) {
        guard hasServed else {
            phase = .head
            return
        }
        enter(.head, now, for: timeouts.headNanoseconds)
    }

    private mutating func begin(_ head: HTTPRequestHead, _ now: UInt64) -> [Action] {
        closesAfterAnswer = head.closesConnection
        guard let text = head.originTarget else {
            return refuse(
                .malformed("the target is for another host than the field Host (RFC 9112 section 3.2)"),
                nowNanoseconds: now)
        }
        guard let target = HTTPTarget(text) else {
            return refuse(.malformed("the path or the query is not well-formed (RFC 3986)"), nowNanoseconds: now)
        }
        let request = HTTPRequest(
            method: head.method, target: target, fields: head.fields,
            clientAddress: (isTrustedProxy ? head.forwardedAddress : nil) ?? peer.text)
        self.request = request
        switch head.framing {
        case .none: return proceed(now)
        case .length(let count):
            enter(.admission, now, for: nil)
            return [.admit(request, bodyBytes: count)]
        case .chunked:
            enter(.admission, now, for: nil)
            return [.admit(request, bodyBytes: nil)]
        }
    }
}

/// How long the parts of a connection's life may take, in nanoseconds.
struct HTTPTimeouts {
    private static let nanosecondsPerSecond: UInt64 = 1_000_000_000

    /// From the beginning of the connection, or of a request, to the end of its head.
    let headNanoseconds: UInt64
    /// From the head to the end of the body.
    let bodyNanoseconds: UInt64
    /// Between two requests.
    let idleNanoseconds: UInt64
    /// Until an answer has left.
    let answerNanoseconds: UInt64
    /// From the last answer until the client closes.
    let lingeringNanoseconds: UInt64

    init(_ configuration: HTTPServerConfiguration) {
        func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(max(seconds, 0)) * Self.nanosecondsPerSecond }
        headNanoseconds = nanoseconds(configuration.headSecondsMaximum)
        bodyNanoseconds = nanoseconds(configuration.bodySecondsMaximum)
        idleNanoseconds = nanoseconds(configuration.idleSecondsMaximum)
        answerNanoseconds = nanoseconds(configuration.answerSecondsMaximum)
        lingeringNanoseconds = nanoseconds(configuration.lingeringSecondsMaximum)
    }
}
