import Dispatcher
import EventLoop
import Notifications
import PushCore

/// An event that a worker would understand, ready to be published.
struct CheckedEvent {
    /// What to publish.
    let message: Message
    /// What happened and to what: an operator may bind other queues by it, and several work queues share the events by
    /// it, all of one dataset in one queue.
    let routingKey: String

    /// Checks an event as a worker would.
    ///
    /// - Parameters:
    ///   - body: a structured CloudEvent.
    ///   - validator: what checks it.
    /// - Throws: `CommandFailure` (`data`) if a worker would make it a dead letter at once.
    init(_ body: [UInt8], _ validator: inout EventValidator) throws(CommandFailure) {
        var message = Message(body: body)
        message.properties.contentType = "application/cloudevents+json"
        let event: ChangeEvent
        do throws(EventRejection) { event = try validator.validate(message) } catch {
            throw CommandFailure(.data, error.message)
        }
        message.properties.messageID = event.identifier
        message.properties.timestampSeconds = UInt64(max(0, WallClock.nowMilliseconds() / 1_000))
        self.message = message
        routingKey = Self.routingKey(of: event)
    }

    private static func routingKey(of event: ChangeEvent) -> String {
        let (type, subject) = typeAndSubject(of: event)
        // A routing key holds 255 bytes.
        var key = "\(type).\(subject)"
        while key.utf8.count > 255 { key.removeLast() }
        return key
    }

    private static func typeAndSubject(of event: ChangeEvent) -> (type: String, subject: String) {
        switch event.kind {
        case .dataset(let change):
            let type =
                switch change.operation {
                case .changed: "dataset.changed"
                case .deleted: "dataset.deleted"
                case .merged: "datasets.merged"
                }
            return (type, "\(change.key.identityID).\(change.key.datasetName)")
        case .record(let change): return ("record.\(change.operation.rawValue)", change.recordName)
        case .push: return ("push.requested", event.identifier)
        }
    }
}
