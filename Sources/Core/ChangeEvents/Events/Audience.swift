import Essentials
public import Notifications

/// The addressees of a push.
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

    /// Whether two audiences are the same, their names having the same bytes.
    public static func == (left: Audience, right: Audience) -> Bool {
        switch (left, right) {
        case (.dataset(let left), .dataset(let right)): left == right
        case (.devices(let left, let leftApp), .devices(let right, let rightApp)),
            (.identities(let left, let leftApp), .identities(let right, let rightApp)),
            (.users(let left, let leftApp), .users(let right, let rightApp)):
            left.comparedByBytes == right.comparedByBytes && leftApp.hasBytes(of: rightApp)
        case (.tokens(let left, let leftApp), .tokens(let right, let rightApp)):
            left == right && leftApp.hasBytes(of: rightApp)
        case (.topic(let left, let leftApp), .topic(let right, let rightApp)):
            left.hasBytes(of: right) && leftApp.hasBytes(of: rightApp)
        case (.dataset, _), (.devices, _), (.identities, _), (.users, _), (.tokens, _), (.topic, _): false
        }
    }

    /// Hashes what names the audience.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .dataset(let key): hasher.combine(key)
        case .devices(let names, let app), .identities(let names, let app), .users(let names, let app):
            hasher.combine(names.comparedByBytes)
            hasher.combine(ByteText(app))
        case .tokens(let tokens, let app):
            hasher.combine(tokens)
            hasher.combine(ByteText(app))
        case .topic(let topic, let app):
            hasher.combine(ByteText(topic))
            hasher.combine(ByteText(app))
        }
    }
}
