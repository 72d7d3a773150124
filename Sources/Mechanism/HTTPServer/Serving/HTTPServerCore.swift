import Crypto
import Essentials
import EventLoop
import Glibc

/// The connections of a server; lives on its loop.
final class HTTPServerCore {
    private static let readBufferBytes = 16 * 1_024
    private static let sweepIntervalNanoseconds: UInt64 = 500_000_000
    /// How long a head may take before its connection gives way to a new one, if no connection slot is free.
    private static let slowHeadNanoseconds: UInt64 = 1_000_000_000
    /// The same for a body that comes, and an answer that leaves.
    private static let slowTransferNanoseconds: UInt64 = 5_000_000_000

    let loop: EventLoop
    let configuration: HTTPServerConfiguration
    /// The read buffer of all connections; its bytes are consumed at once.
    let readBuffer: UnsafeMutableRawBufferPointer
    private(set) var isStopping = false
    private let handler: any HTTPHandler
    private var tls: TLSContext?
    private var mailbox: HTTPServerMailbox?
    private var listener: TCPListener?
    private var connections: [UInt64: HTTPConnection] = [:]
    private var nextIdentifier: UInt64 = 1
    private var shares: ConnectionShares
    private(set) var memory = HTTPServerMemory()
    /// Requests whose answers are deferred.
    private var deferredCount = 0
    private var isListenerPaused = false
    private var dateLine = HTTPDateLine()
    private var drained: (() -> Void)?

    init(loop: EventLoop, configuration: HTTPServerConfiguration, tls: TLSContext?, handler: any HTTPHandler) {
        self.loop = loop
        self.configuration = configuration
        self.tls = tls
        self.handler = handler
        readBuffer = .allocate(byteCount: Self.readBufferBytes, alignment: 16)
        shares = ConnectionShares(
            connectionsMaximum: configuration.connectionsMaximum,
            perAddressMaximum: configuration.connectionsPerAddressMaximum,
            unlimitedAddresses: Set(configuration.trustedProxies.map { ClientAddress($0).text }))
    }

    /// Whether the address is one of `trustedProxies`.
    func isTrustedProxy(_ address: ClientAddress) -> Bool { shares.unlimitedAddresses.contains(address.text) }

    deinit { readBuffer.deallocate() }

    var nowNanoseconds: UInt64 { MonotonicClock.nowNanoseconds() }

    /// The value of the field `Date`; it is formatted once a second.
    func date() -> String { dateLine.text(secondsSince1970: WallClock.nowMilliseconds() / 1_000) }

    // MARK: Start and stop

    /// Accepts connections from a socket that listens.
    ///
    /// - Throws: `EventLoopError` if the system does not watch the socket, which is closed then.
    func start(_ socket: Int32, port: UInt16, mailbox: HTTPServerMailbox) throws(EventLoopError) {
        listener = try TCPListener(adopting: socket, port: port, loop: loop) { [unowned self] in accepted($0) }
        self.mailbox = mailbox
        sweep()
    }

    /// Shows this certificate to clients that connect from now on.
    func replace(tls: TLSContext) { self.tls = tls }

    /// Stops accepting, answers held requests with 503, and calls `drained` when every request is answered.
    func drain(_ drained: @escaping () -> Void) {
        isStopping = true
        listener?.close()
        self.drained = drained
        for connection in connections.values {
            if connection.exchange?.isHeld ?? false {
                endWait(of: connection, .busy)
            } else if !connection.isBusy {
                connection.close()
            }
        }
        checkDrained()
    }

    /// Answers late requests, and closes all connections.
    func end() {
        isStopping = true
        listener?.close()
        for connection in connections.values { endWait(of: connection, .busy) }
        for connection in connections.values { connection.close() }
        drained?()
        drained = nil
        mailbox = nil
    }

    private func checkDrained() {
        guard isStopping, mailbox?.requestCount == 0 else { return }
        drained?()
        drained = nil
    }

    // MARK: Connections

    /// Another descriptor of the socket that it listens on.
    func duplicateSocket() throws(EventLoopError) -> Int32 {
        guard let listener else { throw EventLoopError(call: "fcntl", code: EBADF) }
        return try listener.duplicate()
    }

    private func accepted(_ socket: Int32) {
        let address = ClientAddress(peerOf: socket)
        switch shares.verdict(address) {
        case .taken: break
        case .addressFull:
            guard giveWay(where: { $0.address.share == address.share }) else { return refuse(socket) }
        case .full:
            // One that waits in the kernel's queue may be served when another has ended.
            guard giveWay(where: { _ in true }) else {
                pauseListener()
                return refuse(socket)
            }
        }
        open(socket, address)
        if shares.count >= configuration.connectionsMaximum, victim(where: { _ in true }) == nil { pauseListener() }
    }

    private func open(_ socket: Int32, _ address: ClientAddress) {
        guard let transport = try? HTTPTransport(socket: socket, tls: tls) else { return }
        let connection = HTTPConnection(
            identifier: nextIdentifier, address: address, core: self, transport: transport)
        nextIdentifier += 1
        do throws(EventLoopError) {
            try connection.start(socket)
        } catch {
            return transport.close()
        }
        connections[connection.identifier] = connection
        shares.add(address)
    }

    /// Says that there are too many connections, as far as that can be said at once.
    private func refuse(_ socket: Int32) {
        if tls == nil {
            let answer = response(to: .busy, head: HTTPRequestHead())
            let bytes = answer.wireBytes(isHead: false, closes: true, date: date())
            _ = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        close(socket)
    }

    /// Closes a connection that waits for a request, or whose request comes slowly.
    private func giveWay(where isMeant: (HTTPConnection) -> Bool) -> Bool {
        guard let victim = victim(where: isMeant) else { return false }
        victim.close()
        return true
    }

    /// The connection to close: first one that waits for a request or is slow with its head, then any slow one.
    private func victim(where isMeant: (HTTPConnection) -> Bool) -> HTTPConnection? {
        let now = nowNanoseconds
        func oldest(_ isSlow: (HTTPConnection, _ sinceNanoseconds: UInt64) -> Bool) -> HTTPConnection? {
            oldestPhase { isMeant($0) && isSlow($0, now &- $0.phaseBeganNanoseconds) }
        }
        return oldest { connection, nanoseconds in
            switch connection.phase {
            case .idle where connection.hasServed, .lingering: true
            case .idle, .head: nanoseconds >= Self.slowHeadNanoseconds
            case .admission, .body, .answer, .sending, .closed: false
            }
        }
            ?? oldest { connection, nanoseconds in
                [.body, .sending].contains(connection.phase) && nanoseconds >= Self.slowTransferNanoseconds
            }
    }

    /// The selected connection that has been in its phase for longest.
    private func oldestPhase(where isMeant: (HTTPConnection) -> Bool) -> HTTPConnection? {
        var oldest: HTTPConnection?
        for connection in connections.values where isMeant(connection) {
            if let oldest, oldest.phaseBeganNanoseconds <= connection.phaseBeganNanoseconds { continue }
            oldest = connection
        }
        return oldest
    }

    /// A connection has been closed.
    func closed(_ connection: HTTPConnection) {
        guard connections.removeValue(forKey: connection.identifier) != nil else { return }
        shares.remove(connection.address)
        resumeListener()
    }

    private func pauseListener() {
        isListenerPaused = true
        listener?.pause()
    }

    private func resumeListener() {
        guard isListenerPaused, !isStopping else { return }
        isListenerPaused = false
        listener?.resume()
    }

    /// Ends what takes too long.
    private func sweep() {
        for connection in connections.values { connection.checkDeadline() }
        // A head that was new when no connection slot was free may have become slow.
        if isListenerPaused, victim(where: { _ in true }) != nil { resumeListener() }
        loop.schedule(afterNanoseconds: Self.sweepIntervalNanoseconds) { [weak self] in
            guard let self, !isStopping || !connections.isEmpty else { return }
            sweep()
        }
    }

    // MARK: Memory

    /// Updates the total of one connection's memory; above a limit the slowest connection is refused or closed.
    func memoryChanged(from old: HTTPServerMemory, to new: HTTPServerMemory) {
        memory = memory - old + new
        if new.bodyBytes > old.bodyBytes, memory.bodyBytes > configuration.bodyBytesInMemoryMaximum {
            oldestPhase { $0.phase == .body }?.refuse(.busy)
        }
        if new.answerBytes > old.answerBytes, memory.answerBytes > configuration.answerBytesInMemoryMaximum {
            oldestPhase { $0.phase == .sending }?.close()
        }
    }

    // MARK: Requests

    func requestBegan() { mailbox?.requestBegan() }

    func requestEnded() {
        mailbox?.requestEnded()
        checkDrained()
    }

    /// The response in place of an answer.
    ///
    /// - Parameters:
    ///   - refusal: why there is none.
    ///   - head: the received part of the request's head.
    /// - Returns: the response.
    func response(to refusal: HTTPRefusal, head: HTTPRequestHead) -> HTTPResponse {
        let target = head.originTarget ?? head.rawTarget
        var response = handler.response(
            to: refusal, rawPath: String(target.prefix { $0 != "?" }), fields: head.fields)
        response.status = refusal.status
        if refusal == .busy { response.fields.append(HTTPField("Retry-After", "1")) }
        return response
    }

    /// Decides whether the body of a request is read.
    func admit(_ request: HTTPRequest, bodyBytes: Int?, on connection: HTTPConnection) {
        guard configuration.hosts.serve(request) else { return refuse(connection, .misdirected) }
        switch handler.admit(request, bodyBytes: bodyBytes) {
        case .read(let bytesMaximum): connection.admit(min(bytesMaximum, configuration.bodyBytesMaximum))
        case .refuse(let response): connection.respond(response, closes: true)
        case .later(let work): hand(request, to: connection, isHeld: false) { work(HTTPAdmitter($0)) }
        }
    }

    /// Answers a request that has come in whole.
    func answer(_ request: HTTPRequest, on connection: HTTPConnection) {
        guard configuration.hosts.serve(request) else { return refuse(connection, .misdirected) }
        switch handler.answer(request) {
        case .now(let response): connection.respond(response, closes: false)
        case .later(let work): hand(request, to: connection, isHeld: false) { work(HTTPResponder($0)) }
        case .held(let work): hand(request, to: connection, isHeld: true) { work(HTTPResponder($0)) }
        }
    }

    private func hand(
        _ request: HTTPRequest, to connection: HTTPConnection, isHeld: Bool, _ work: (HTTPExchange) -> Void
    ) {
        guard let mailbox, !isStopping, isHeld || deferredCount < configuration.deferredRequestsMaximum else {
            return refuse(connection, .busy)
        }
        if !isHeld { deferredCount += 1 }
        let exchange = HTTPExchange(connection: connection.identifier, isHeld: isHeld, mailbox: mailbox)
        connection.wait(for: exchange)
        work(exchange)
    }

    /// An answer has come for a request that was handed on.
    func ended(_ exchange: HTTPExchange, with answer: HTTPExchange.Answer?, or refusal: HTTPRefusal?) {
        if !exchange.isHeld { deferredCount -= 1 }
        guard let connection = connections[exchange.connection] else { return }
        if let answer {
            connection.ended(exchange, with: answer)
        } else if let refusal {
            connection.ended(exchange, with: .response(response(to: refusal, head: connection.head)))
        }
    }

    private func refuse(_ connection: HTTPConnection, _ refusal: HTTPRefusal) {
        connection.respond(response(to: refusal, head: connection.head), closes: false)
    }

    /// Ends the wait of a request that somebody else was to answer.
    private func endWait(of connection: HTTPConnection, _ refusal: HTTPRefusal) {
        guard let exchange = connection.exchange else { return }
        let answer = HTTPExchange.Answer.response(response(to: refusal, head: connection.head))
        exchange.end(answer)
        connection.ended(exchange, with: answer)
    }
}

/// How much of bodies and of answers is held in memory, in bytes.
struct HTTPServerMemory: Equatable, Sendable {
    /// Bodies that have not come whole, or whose request waits.
    var bodyBytes = 0
    /// Answers that their clients have not taken.
    var answerBytes = 0

    static func + (left: Self, right: Self) -> Self {
        Self(bodyBytes: left.bodyBytes + right.bodyBytes, answerBytes: left.answerBytes + right.answerBytes)
    }

    static func - (left: Self, right: Self) -> Self {
        Self(bodyBytes: left.bodyBytes - right.bodyBytes, answerBytes: left.answerBytes - right.answerBytes)
    }
}

/// The value of the field `Date` (RFC 9110 section 5.6.7), made once for each second.
struct HTTPDateLine {
    private var seconds: Int64 = .min
    private var text = ""

    /// The text for a time, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func text(secondsSince1970 seconds: Int64) -> String {
        guard seconds != self.seconds else { return text }
        self.seconds = seconds
        text = HTTPDate.text(seconds)
        return text
    }
}
