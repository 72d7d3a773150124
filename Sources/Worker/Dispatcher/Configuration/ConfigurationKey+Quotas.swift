import PushCore
import TOML

extension ConfigurationKey {
    /// The keys of `[registry.quotas]`.
    static let quotas = RegistryQuota.allCases.map { quota in
        ConfigurationKey(
            section: "registry.quotas", name: quota.rawValue, kind: .integer(0...RegistryQuota.limitMaximum),
            standard: .integer(quota.standardLimit), summary: summary(quota))
    }

    private static func summary(_ quota: RegistryQuota) -> String {
        switch quota {
        case .subscriptionsPerOwner: "Record subscriptions of a user, or of a device, in an app."
        case .subscriptionBytesPerOwner: "Bytes of their predicates and notifications."
        case .subscriptionsPerApp: "Record subscriptions of an app."
        case .subscriptionBytesPerApp: "Bytes of their predicates and notifications."
        case .devicesPerOwner: "Devices of a user, or of an identity, in an app."
        case .datasetsPerOwner: "Datasets of a device, or of an identity."
        case .topicsPerOwner: "Topics of a device, or of a user in an app."
        case .apiTokens: "Tokens for the API."
        }
    }
}
