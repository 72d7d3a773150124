import PushCore

extension SubscriptionOwner {
    /// The name of the user or device.
    var name: String {
        switch self {
        case .user(let name), .device(let name): name
        }
    }

    /// Whether it is a user.
    var isUser: Bool {
        if case .user = self { true } else { false }
    }
}
