public import Notifications

/// A token that the push service will never deliver to again, named as exactly as the service spoke of it: the topic
/// (app and kind), the environment, and the token.
///
/// What is said about one topic or environment tells nothing of another, so nothing else is removed for it.
public struct DeadToken: Hashable, Sendable {
    /// The app, by its name.
    public var app: String
    /// The push service and environment that was asked.
    public var platform: Platform
    /// The kind of token that the topic of the push is for.
    public var kind: TokenKind
    /// The token; a device that has another one by now is left alone.
    public var token: DeviceToken
    /// Since when the service has known it, in milliseconds since 1970; nil if it did not say.
    ///
    /// A token that was registered at or after this moment is left alone.
    public var deadSinceMilliseconds: Int64?

    /// Creates a dead token.
    public init(
        app: String, platform: Platform, kind: TokenKind, token: DeviceToken, deadSinceMilliseconds: Int64?
    ) {
        self.app = app
        self.platform = platform
        self.kind = kind
        self.token = token
        self.deadSinceMilliseconds = deadSinceMilliseconds
    }
}
