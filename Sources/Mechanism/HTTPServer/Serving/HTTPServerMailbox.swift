import EventLoop
import Synchronization

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

    /// Brings an answer to the connection that waits for it.
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
