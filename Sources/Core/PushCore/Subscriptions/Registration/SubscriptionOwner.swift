import Essentials

/// Whose a subscription is: which devices its pushes go to.
public enum SubscriptionOwner: Hashable, Sendable {
    /// All devices that the user has in the app.
    case user(String)
    /// One device.
    case device(String)

    /// The name, and whether it is a user's, compared by bytes.
    private var compared: (isUser: Bool, name: ByteText) {
        switch self {
        case .user(let name): (true, ByteText(name))
        case .device(let name): (false, ByteText(name))
        }
    }

    /// Whether two owners are the same, their names having the same bytes.
    public static func == (left: SubscriptionOwner, right: SubscriptionOwner) -> Bool {
        left.compared == right.compared
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) {
        let compared = compared
        hasher.combine(compared.isUser)
        hasher.combine(compared.name)
    }
}
