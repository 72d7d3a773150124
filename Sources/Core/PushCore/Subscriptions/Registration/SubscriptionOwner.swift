import Essentials

/// Whose a subscription is: which devices its pushes go to.
public enum SubscriptionOwner: Hashable, Sendable {
    /// All devices that the user has in the app.
    case user(String)
    /// One device.
    case device(String)

    /// The name of the user or device.
    public var name: String {
        switch self {
        case .user(let name), .device(let name): name
        }
    }

    /// Whether it is a user.
    public var isUser: Bool { if case .user = self { true } else { false } }

    /// Whether two owners are the same, their names having the same bytes.
    public static func == (left: SubscriptionOwner, right: SubscriptionOwner) -> Bool {
        left.isUser == right.isUser && left.name.hasBytes(of: right.name)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isUser)
        hasher.combine(ByteText(name))
    }
}
