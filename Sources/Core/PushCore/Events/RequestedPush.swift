public import Notifications

/// A push that a backend asks for by itself.
public struct RequestedPush: Hashable, Sendable {
    /// The app, by its name in the configuration.
    public var app: String
    /// Whom it is for.
    public var audience: Audience
    /// What it says.
    public var notification: Notification
    /// How it is sent.
    public var options: PushOptions

    /// Creates a requested push.
    public init(app: String, audience: Audience, notification: Notification, options: PushOptions) {
        self.app = app
        self.audience = audience
        self.notification = notification
        self.options = options
    }
}
