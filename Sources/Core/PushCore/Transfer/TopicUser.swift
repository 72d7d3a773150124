public import Essentials

/// A user's subscription to a topic of an app.
public struct TopicUser: Hashable, Sendable {
    /// The user.
    @ByBytes public var userID: String
    /// The app.
    public var app: String
    /// The topic.
    @ByBytes public var topic: String

    /// Creates a value.
    public init(userID: String, app: String, topic: String) {
        self.userID = userID
        self.app = app
        self.topic = topic
    }
}
