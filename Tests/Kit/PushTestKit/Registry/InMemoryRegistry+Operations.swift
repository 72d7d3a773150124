public import RegistryCore

/// The reports of processes, the audit log and the pauses of a registry in memory.
struct InMemoryOperations {
    var reports: [[UInt8]: WorkerReport] = [:]
    var entries: [AuditEntry] = []
    var lastNumber: Int64 = 0
    var pauses: [AppPause] = []
}

extension InMemoryRegistry: PauseRegistry {
    /// The pauses in force.
    public func pauses() throws(RegistryError) -> [AppPause] {
        try check()
        return operations.pauses.sorted { ($0.app ?? "") < ($1.app ?? "") }
    }

    /// Pauses an app or all.
    public func setPause(_ pause: AppPause) throws(RegistryError) {
        try check()
        try pause.check()
        operations.pauses.removeAll { $0.app == pause.app }
        operations.pauses.append(pause)
    }

    /// Ends the pause of an app, or the pause of all if it is nil.
    public func removePause(app: String?) throws(RegistryError) -> Bool {
        try check()
        let index = operations.pauses.firstIndex { $0.app == app }
        if let index { operations.pauses.remove(at: index) }
        return index != nil
    }
}

extension InMemoryRegistry: WorkerReportRegistry {
    /// Keeps the report of a process.
    public func saveReport(_ report: WorkerReport) throws(RegistryError) {
        try check()
        try report.check()
        operations.reports[Array(report.identifier.utf8)] = report
        let oldest = report.reportedAtMilliseconds - WorkerReportRules.keptMilliseconds
        operations.reports = operations.reports.filter { $0.value.reportedAtMilliseconds >= oldest }
    }

    /// The newest report of each process.
    public func workerReports() throws(RegistryError) -> [WorkerReport] {
        try check()
        let sorted = operations.reports.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return Array(sorted.map(\.value).prefix(WorkerReportRules.countMaximum))
    }

    /// Forgets the report of a process.
    public func removeReport(of identifier: String) throws(RegistryError) {
        try check()
        operations.reports[Array(identifier.utf8)] = nil
    }
}

extension InMemoryRegistry: AuditRegistry {
    /// Adds an entry.
    public func addAuditEntry(_ entry: AuditEntry) throws(RegistryError) -> Int64 {
        try check()
        operations.lastNumber += 1
        var entry = entry
        entry.number = operations.lastNumber
        operations.entries.append(entry)
        operations.entries.removeAll { $0.number <= entry.number - AuditRules.keptCount }
        return entry.number
    }

    /// Notes how far an action is.
    public func updateAuditEntry(_ number: Int64, _ progress: AuditEntry.Progress) throws(RegistryError) {
        try check()
        guard let index = operations.entries.firstIndex(where: { $0.number == number }) else { return }
        operations.entries[index].progress = progress
    }

    /// Entries, the newest first.
    public func auditEntries(before number: Int64?, limit: Int) throws(RegistryError) -> [AuditEntry] {
        try check()
        return Array(operations.entries.reversed().filter { $0.number < number ?? .max }.prefix(max(limit, 0)))
    }

    /// One entry, or nil.
    public func auditEntry(_ number: Int64) throws(RegistryError) -> AuditEntry? {
        try check()
        return operations.entries.first { $0.number == number }
    }
}
