import Synchronization

/// One request that is answered from elsewhere: any thread may answer, and the server's loop sends it.
final class HTTPExchange: Sendable {
    /// What was said.
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
