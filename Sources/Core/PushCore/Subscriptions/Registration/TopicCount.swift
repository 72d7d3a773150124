public import Essentials

/// A topic and how many subscribe to it.
public struct TopicCount: Hashable, Sendable {
    /// The topic.
    @ByBytes public var topic: String
    /// How many devices subscribed by themselves.
    public var devices: Int
    /// How many users subscribed with all their devices.
    public var users: Int

    /// Creates a count.
    public init(topic: String, devices: Int, users: Int) {
        self.topic = topic
        self.devices = devices
        self.users = users
    }
}
