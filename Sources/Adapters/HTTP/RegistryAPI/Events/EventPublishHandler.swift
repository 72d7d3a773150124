import ChangeEvents
import EventLoop
import Synchronization

/// Passes the outcomes of publishes to the desk's loop, and says whether RabbitMQ takes events.
final class EventPublishHandler: PublishHandler {
    private let desk: LoopBound<EventDesk>
    private let reason = Mutex<String?>("not connected yet")

    init(_ desk: LoopBound<EventDesk>) { self.desk = desk }

    /// Why RabbitMQ takes no events; nil if it does.
    var problem: String? { reason.withLock { $0 } }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        desk.loop.submit { [desk] in desk.value.publishesEnded(outcomes) }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        self.reason.withLock { $0 = isReady ? nil : reason }
    }
}
