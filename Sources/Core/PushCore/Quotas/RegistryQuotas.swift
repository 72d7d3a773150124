/// How much owners and apps may keep in the registry.
///
/// A quota holds for what adds something: what is there already stays, can be replaced by what is not larger, and can
/// be removed. A store that clients of the API or commands use is given the configuration's quotas; one that nobody
/// gave any has none, for example that of a worker, or the target of a copy.
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
/// check and the change are one transaction. What events make known (`Registry.recordDatasets`) is not held against
/// quotas.
public protocol QuotaRegistry: AnyObject {
    /// The quotas; none unless somebody sets some.
    var quotas: RegistryQuotas { get set }
}
