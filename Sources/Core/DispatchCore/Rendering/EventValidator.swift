public import ChangeEvents
public import Messages
public import Notifications

/// Validates events with the worker's own code, before they are published: decoding, the app, the notification.
///
/// The existence of a device is not checked: only the registry knows it.
public struct EventValidator {
    private let decoder: EventDecoder
    private var renderer: ContentRenderer?

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - apps: the apps that the worker has; without any the app of an event is not looked at.
    ///   - sources: the tables whose changed rows are events.
    public init(apps: [PipelineConfiguration.App] = [], sources: TableSources = TableSources()) {
        decoder = EventDecoder(sources: sources)
        renderer = apps.isEmpty ? nil : ContentRenderer(apps: apps)
    }

    /// Validates a message.
    ///
    /// - Returns: the event.
    /// - Throws: `EventRejection`, with which a worker would make it, or an entry of its target, a dead letter.
    public mutating func validate(_ message: Message) throws(EventRejection) -> ChangeEvent {
        let event = try decoder.decode(message)
        // A worker would make a dead letter of the entry alone; a publisher can still correct it.
        if case .push(let push) = event.kind, let refused = push.refused { throw refused.first }
        if renderer != nil {
            _ = try renderer?.validate(event, expiresAt: nil)
        } else if case .push(let push) = event.kind {
            try push.checkTarget()
            var builder = PushContentBuilder(bundleID: "")
            _ = try builder.content(of: push.notification, options: push.options)
        }
        return event
    }

    /// Validates an event that is to be published, and makes its message ready: AMQP's own properties name it, too.
    ///
    /// - Parameters:
    ///   - message: the event as its publisher wrote it.
    ///   - milliseconds: when it was published or written, in milliseconds since 1970.
    /// - Returns: the event and its message.
    /// - Throws: `EventRejection` as `validate` does.
    public mutating func publishable(
        _ message: Message, atMilliseconds milliseconds: Int64
    ) throws(EventRejection) -> (event: ChangeEvent, message: Message) {
        let event = try validate(message)
        var message = message
        message.properties.messageID = event.identifier
        message.properties.timestampSeconds = UInt64(max(0, milliseconds / 1_000))
        return (event, message)
    }
}
