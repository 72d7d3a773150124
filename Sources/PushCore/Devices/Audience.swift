/// Whom a push is for.
public enum Audience: Hashable, Sendable {
    /// The devices of an identity that subscribed to one of its datasets.
    case dataset(DatasetKey)
    /// Devices by their identifiers, of one app.
    case devices([String], app: String)
    /// Devices by their tokens, of one app; a token that is not registered is pushed to as well.
    case tokens([DeviceToken], app: String)
    /// All devices of these identities, of one app.
    case identities([String], app: String)
    /// All devices of these users, of one app.
    case users([String], app: String)
    /// The devices that subscribed to a topic of one app.
    case topic(String, app: String)
}
