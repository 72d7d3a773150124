/// The registry's part of how a deployment is doing: the newest report of each process.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. No process is special: each writes its own report, and each may read all of them.
///
/// Reports survive the end of any process, but need not survive a loss of power.
public protocol WorkerReportRegistry: AnyObject {
    /// Keeps the report of a process in place of its last one, and forgets reports that are too old
    /// (`WorkerReportRules.keptMilliseconds` before this one).
    ///
    /// - Throws: `RegistryError`, `.invalid` if the report is larger than `WorkerReportRules.contentBytesMaximum`.
    func saveReport(_ report: WorkerReport) throws(RegistryError)

    /// The newest report of each process, by its identifier; at most `WorkerReportRules.countMaximum`.
    func workerReports() throws(RegistryError) -> [WorkerReport]

    /// Forgets the report of a process that ends in order.
    func removeReport(of identifier: String) throws(RegistryError)
}

/// The registry's log of the actions of operators: the user, the action and its extent.
///
/// The same store as `Registry`, with the same rules. Entries are numbered in the order in which they were added, and
/// no number is used again. The newest `AuditRules.keptCount` are kept.
public protocol AuditRegistry: AnyObject {
    /// Adds an entry; it survives a loss of power when the call returns.
    ///
    /// - Returns: its number; `number` of the given entry does not count.
    func addAuditEntry(_ entry: AuditEntry) throws(RegistryError) -> Int64

    /// Notes how far an action is; an entry that is gone stays gone.
    func updateAuditEntry(_ number: Int64, _ progress: AuditEntry.Progress) throws(RegistryError)

    /// Entries, the newest first, older than one if its number is given.
    func auditEntries(before number: Int64?, limit: Int) throws(RegistryError) -> [AuditEntry]

    /// One entry, or nil.
    func auditEntry(_ number: Int64) throws(RegistryError) -> AuditEntry?
}
