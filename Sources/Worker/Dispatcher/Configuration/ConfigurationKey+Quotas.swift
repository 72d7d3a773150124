import PushCore
import TOML

extension ConfigurationKey {
    /// The keys of `[registry.quotas]`.
    static let quotas = RegistryQuota.allCases.map { quota in
        ConfigurationKey(
            section: "registry.quotas", name: quota.rawValue, kind: .integer(0...RegistryQuota.limitMaximum),
            standard: .integer(quota.standardLimit), comment: comment(quota))
    }

    private static func comment(_ quota: RegistryQuota) -> String {
        switch quota {
        case .subscriptionsPerOwner:
            """
            How much clients of the API may keep; what would be more is refused, and 0 is no limit.
            How many subscriptions to records a user, or a device, may have in an app.
            """
        case .subscriptionBytesPerOwner: "How many bytes these take: predicates and notifications."
        case .subscriptionsPerApp: "How many subscriptions to records an app may have."
        case .subscriptionBytesPerApp: "How many bytes these take."
        case .devicesPerOwner: "How many devices a user, or an identity, may have in an app."
        case .datasetsPerOwner: "How many datasets a device, or an identity, may have."
        case .topicsPerOwner: "How many topics a device, or a user in an app, may subscribe to."
        case .apiTokens: "How many tokens for the API there may be."
        }
    }
}
