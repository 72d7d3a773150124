public import Notifications

/// Validates events with the worker's own code, before they are published: decoding, the app, the notification.
///
/// The existence of a device is not checked: only the registry knows it.
public struct EventValidator {
    private let decoder = EventDecoder()
    private var renderer: ContentRenderer?

    /// Creates a validator.
    ///
    /// - Parameter apps: the apps that the worker has; without any the app of an event is not looked at.
    public init(apps: [PipelineConfiguration.App] = []) { renderer = apps.isEmpty ? nil : ContentRenderer(apps: apps) }

    /// Validates a message.
    ///
    /// - Returns: the event.
    /// - Throws: `EventRejection`, with which a worker would make it a dead letter.
    public mutating func validate(_ message: Message) throws(EventRejection) -> ChangeEvent {
        let event = try decoder.decode(message)
        if renderer != nil {
            _ = try renderer?.validate(event, expiresAt: nil)
        } else if case .push(let push) = event.kind {
            try push.checkTarget()
            var builder = PushContentBuilder(bundleID: "")
            _ = try builder.content(of: push.notification, options: push.options)
        }
        return event
    }
}
