import EventLoop
import PushCore

/// An event that a worker would understand, ready to be published.
struct CheckedEvent {
    /// What to publish.
    let message: Message
    /// A routing key by which an operator may bind other queues.
    let routingKey: String

    /// Checks an event as a worker would.
    ///
    /// - Parameters:
    ///   - body: a structured CloudEvent.
    ///   - decoder: what checks it.
    /// - Throws: `CommandFailure` (`data`) if a worker would not understand it.
    init(_ body: [UInt8], _ decoder: EventDecoder) throws(CommandFailure) {
        var message = Message(body: body)
        message.properties.contentType = "application/cloudevents+json"
        let event: ChangeEvent
        do throws(EventRejection) { event = try decoder.decode(message) } catch {
            throw CommandFailure(.data, error.message)
        }
        message.properties.messageID = event.identifier
        message.properties.timestampSeconds = UInt64(max(0, WallClock.nowMilliseconds() / 1_000))
        self.message = message
        routingKey = Self.routingKey(of: event)
    }

    private static func routingKey(of event: ChangeEvent) -> String {
        switch event.kind {
        case .dataset(let change):
            switch change.operation {
            case .changed: "dataset.changed"
            case .deleted: "dataset.deleted"
            case .merged: "datasets.merged"
            }
        case .record(let change): "record.\(change.operation.rawValue)"
        case .push: "push.requested"
        }
    }
}
