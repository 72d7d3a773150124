/// What the registry bounds; the raw value is the key of the configuration's `[registry.quotas]`.
///
/// An owner is a user or a device of an app: what one app's clients keep never counts against another app's.
public enum RegistryQuota: String, CaseIterable, Sendable {
    /// Subscriptions to records that a user or a device has in an app.
    case subscriptionsPerOwner = "subscriptions_per_owner"
    /// What their definitions take together, in bytes (`RecordSubscription.storedBytes`).
    case subscriptionBytesPerOwner = "subscription_bytes_per_owner"
    /// Subscriptions to records that an app has.
    case subscriptionsPerApp = "subscriptions_per_app"
    /// What their definitions take together, in bytes.
    case subscriptionBytesPerApp = "subscription_bytes_per_app"
    /// Devices that an identity or a user has in an app.
    case devicesPerOwner = "devices_per_owner"
    /// Datasets that a device subscribes to, and those that clients made known of an identity.
    case datasetsPerOwner = "datasets_per_owner"
    /// Topics that a device, or a user in an app, subscribes to.
    case topicsPerOwner = "topics_per_owner"
    /// Tokens for the API.
    case apiTokens = "api_tokens"

    /// The largest value that a configuration can give.
    public static let limitMaximum = 1_000_000_000_000

    /// The limit if the configuration says nothing; 0 for none.
    public var standardLimit: Int {
        switch self {
        case .subscriptionsPerOwner, .devicesPerOwner, .datasetsPerOwner, .topicsPerOwner, .apiTokens: 1_000
        case .subscriptionBytesPerOwner: 1_048_576
        case .subscriptionsPerApp, .subscriptionBytesPerApp: 0
        }
    }

    /// What is bounded, for messages: "at most 1000 …".
    var bounded: String {
        switch self {
        case .subscriptionsPerOwner: "subscriptions for each user and device of an app"
        case .subscriptionBytesPerOwner: "bytes of subscriptions for each user and device of an app"
        case .subscriptionsPerApp: "subscriptions for each app"
        case .subscriptionBytesPerApp: "bytes of subscriptions for each app"
        case .devicesPerOwner: "devices for each user and identity of an app"
        case .datasetsPerOwner: "datasets for each device and identity"
        case .topicsPerOwner: "topics for each device, and for each user of an app"
        case .apiTokens: "tokens for the API"
        }
    }
}

extension RegistryError {
    /// Says that something would exceed a quota.
    public static func quotaExceeded(_ quota: RegistryQuota, limit: Int) -> RegistryError {
        RegistryError(
            .quotaExceeded,
            "There are at most \(limit) \(quota.bounded), and this request would exceed that. Remove unused ones, or "
                + "raise registry.quotas.\(quota.rawValue).")
    }
}
