public import PushCore

/// What every store with quotas must do, as checks that any test target can run.
///
/// Each check gets a registry of its own that is empty and has no quotas yet.
public struct QuotaConformance: Sendable, CustomStringConvertible {
    /// The ports that such a store has.
    public typealias Store = QuotaRegistry & Registry & RegistryAdministration & SubscriptionRegistry

    /// What the registry does, as a sentence.
    public let name: String
    /// Throws if the registry does not do it.
    public let check: @Sendable (any Store) throws -> Void

    /// The sentence, so that a parameterised test shows it.
    public var description: String { name }

    init(_ name: String, _ check: @escaping @Sendable (any Store) throws -> Void) {
        self.name = name
        self.check = check
    }

    /// All checks.
    public static let all: [QuotaConformance] = subscriptionChecks + deviceChecks

    /// Does something that must exceed a quota, and changes nothing.
    static func expectRefusal(
        _ quota: RegistryQuota, _ what: String, _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as RegistryError where error.code == .quotaExceeded {
            guard error.message.contains("registry.quotas.\(quota.rawValue)") else {
                throw RegistryViolation("\(what): refused for another quota: \(error)")
            }
            return
        }
        throw RegistryViolation("\(what): not refused")
    }

    /// Lets everything else be unlimited.
    static func limit(_ registry: any Store, _ quota: RegistryQuota, to limit: Int) {
        registry.quotas = RegistryQuotas(limits: [quota: limit])
    }
}
