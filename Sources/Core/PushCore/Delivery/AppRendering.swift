public import Notifications

/// What an event says to the devices of one app.
public struct AppRendering: Sendable {
    /// The app.
    public var app: AppRoute
    /// The payload and the headers that its devices share.
    public var content: PushContent

    /// Creates a rendering.
    public init(app: AppRoute, content: PushContent) {
        self.app = app
        self.content = content
    }
}
