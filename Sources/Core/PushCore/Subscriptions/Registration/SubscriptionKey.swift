public import Essentials

/// Names a subscription: its identifier is unique among those of its owner in the app.
public struct SubscriptionKey: Hashable, Sendable {
    /// The app.
    public var app: String
    /// Whose it is.
    public var owner: SubscriptionOwner
    /// The name that the client gave it, 1 to 256 bytes.
    @ByBytes public var subscriptionID: String

    /// Creates a key.
    public init(app: String, owner: SubscriptionOwner, subscriptionID: String) {
        self.app = app
        self.owner = owner
        self.subscriptionID = subscriptionID
    }
}
