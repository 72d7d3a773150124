/// A key that the command line gives: `--set KEY=VALUE`.
public struct ConfigurationOverride: Hashable, Sendable {
    /// The key, for example `rabbitmq.prefetch` or `app.0.apns.connections`.
    public let key: String
    /// The value; lists are separated by commas.
    public let value: String

    /// Creates an override.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}
