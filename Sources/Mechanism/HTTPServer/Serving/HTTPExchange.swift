import EventLoop
import Synchronization

/// One request that is answered from elsewhere: any thread may answer, and the server's loop sends it.
final class HTTPExchange: Sendable {
    /// A handler's answer.
    enum Answer: Sendable {
        /// This is the answer to the client.
        case response(HTTPResponse)
        /// The body may come, up to so many bytes.
        case admitted(bodyBytesMaximum: Int)

        /// How long the body of the answer is.
        var bodyBytes: Int {
            if case .response(let response) = self { return response.body.count }
            return 0
        }
    }

    let connection: UInt64
    /// Whether it waits for something to happen, and not for work to be done.
    let isHeld: Bool
    private let mailbox: HTTPServerMailbox
    private let hasEnded = Atomic<Bool>(false)
    private let hasBeenAbandoned = Atomic<Bool>(false)

    init(connection: UInt64, isHeld: Bool, mailbox: HTTPServerMailbox) {
        self.connection = connection
        self.isHeld = isHeld
        self.mailbox = mailbox
    }

    /// Whether an answer would go nowhere: the client has closed its side, or the request was answered already.
    var isAbandoned: Bool { hasBeenAbandoned.load(ordering: .relaxed) || hasEnded.load(ordering: .relaxed) }

    /// The client has gone.
    func abandon() { hasBeenAbandoned.store(true, ordering: .relaxed) }

    /// Answers; only the first call counts.
    ///
    /// - Parameter answer: the answer, or nil if there is none.
    func end(_ answer: Answer?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        mailbox.deliver(answer, of: self)
    }
}

/// Takes answers from any thread to the server's loop, and bounds how much memory they hold on the way.
final class HTTPServerMailbox: Sendable {
    let loop: EventLoop
    private let core: LoopBound<HTTPServerCore>
    private let bytesMaximum: Int
    /// How long the bodies are that wait for the loop, or for their clients to take them.
    private let bytes = Atomic<Int>(0)
    private let requests = Atomic<Int>(0)

    init(core: LoopBound<HTTPServerCore>, bytesMaximum: Int) {
        self.core = core
        loop = core.loop
        self.bytesMaximum = bytesMaximum
    }

    /// How many requests have come and are not answered.
    var requestCount: Int { requests.load(ordering: .relaxed) }

    func requestBegan() { requests.wrappingAdd(1, ordering: .relaxed) }

    func requestEnded() { requests.wrappingSubtract(1, ordering: .relaxed) }

    /// Delivers an answer to the connection that waits for it.
    func deliver(_ answer: HTTPExchange.Answer?, of exchange: HTTPExchange) {
        let size = answer?.bodyBytes ?? 0
        let isTaken = bytes.wrappingAdd(size, ordering: .relaxed).newValue <= bytesMaximum
        if !isTaken { bytes.wrappingSubtract(size, ordering: .relaxed) }
        let taken: HTTPExchange.Answer? = isTaken ? answer : nil
        let refusal: HTTPRefusal? = isTaken ? (answer == nil ? .unanswered : nil) : .busy
        loop.submit { [self] in
            core.value.ended(exchange, with: taken, or: refusal)
            if isTaken { bytes.wrappingSubtract(size, ordering: .relaxed) }
        }
    }
}
