/// Whose a subscription is: which devices its pushes go to.
public enum SubscriptionOwner: Hashable, Sendable {
    /// All devices that the user has in the app.
    case user(String)
    /// One device.
    case device(String)
}
