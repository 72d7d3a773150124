/// How much owners and apps may keep in the registry.
///
/// A quota applies to additions: existing data stays, can be replaced by data that is not larger, and can be removed. A
/// store for clients of the API or for commands has the configuration's quotas. Other stores have none, for example a
/// worker's, or the target of a copy.
public struct RegistryQuotas: Hashable, Sendable {
    /// No quota at all.
    public static let unlimited = RegistryQuotas(limits: [:])
    /// Each quota's own limit.
    public static let standard = RegistryQuotas(
        limits: Dictionary(uniqueKeysWithValues: RegistryQuota.allCases.map { ($0, $0.standardLimit) }))

    private var limits: [RegistryQuota: Int]

    /// Creates quotas.
    ///
    /// - Parameter limits: the limit of each; one that is missing, or 0, is no limit.
    public init(limits: [RegistryQuota: Int]) { self.limits = limits.filter { $0.value > 0 } }

    /// The limit of a quota; nil if there is none.
    public subscript(_ quota: RegistryQuota) -> Int? { limits[quota] }

    /// Checks a number against a quota.
    ///
    /// - Throws: `RegistryError` with `.quotaExceeded`.
    public func check(_ quota: RegistryQuota, _ number: Int64) throws(RegistryError) {
        guard let limit = limits[quota], number > Int64(limit) else { return }
        throw RegistryError.quotaExceeded(quota, limit: limit)
    }
}

/// A store that can be told how much may be kept in it.
///
/// Every method that adds something then throws `RegistryError` with `.quotaExceeded` instead of exceeding a quota; the
/// check and the change are one transaction. Datasets that events make known (`Registry.recordDatasets`) do not count.
public protocol QuotaRegistry: AnyObject {
    /// The quotas; none unless they are set.
    var quotas: RegistryQuotas { get set }
}

/// The limits of the registry; the raw value is the key of the configuration's `[registry.quotas]`.
///
/// An owner is a user or a device of an app. Data of one app's clients never counts against another app's clients.
public enum RegistryQuota: String, CaseIterable, Sendable {
    /// Subscriptions to records that a user or a device has in an app.
    case subscriptionsPerOwner = "subscriptions_per_owner"
    /// The total bytes of their definitions (`RecordSubscription.storedBytes`).
    case subscriptionBytesPerOwner = "subscription_bytes_per_owner"
    /// Subscriptions to records that an app has.
    case subscriptionsPerApp = "subscriptions_per_app"
    /// The total bytes of their definitions.
    case subscriptionBytesPerApp = "subscription_bytes_per_app"
    /// Devices that an identity or a user has in an app.
    case devicesPerOwner = "devices_per_owner"
    /// Datasets that a device subscribes to, and those that clients have recorded of an identity.
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

    /// The subject of the limit, for messages: "at most 1000 …".
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
