/// A store that can be told how much may be kept in it.
///
/// Every method that adds something then throws `RegistryError` with `.quotaExceeded` instead of exceeding a quota; the
/// check and the change are one transaction. What events make known (`Registry.recordDatasets`) is not held against
/// quotas.
public protocol QuotaRegistry: AnyObject {
    /// The quotas; none unless somebody sets some.
    var quotas: RegistryQuotas { get set }
}
