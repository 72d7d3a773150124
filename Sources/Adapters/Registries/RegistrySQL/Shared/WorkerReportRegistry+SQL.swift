public import RegistryCore

extension WorkerReportRegistry where Self: SQLStore {
    /// Keeps the report of a process.
    public func saveReport(_ report: WorkerReport) throws(RegistryError) {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        try report.check()
        let oldest = report.reportedAtMilliseconds - WorkerReportRules.keptMilliseconds
        try write(durable: false) { (transaction) throws(RegistryError) in
            _ = try transaction.commit([
                """
                INSERT INTO \(table: "worker_report") (id, reported_at, content)
                VALUES (\(report.identifier), \(report.reportedAtMilliseconds), \(report.content))
                ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at, content = excluded.content
                """, "DELETE FROM \(table: "worker_report") WHERE reported_at < \(oldest)",
            ])
        }
    }

    /// The newest report of each process.
    public func workerReports() throws(RegistryError) -> [WorkerReport] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        return try ask(
            """
            SELECT id, reported_at, content FROM \(table: "worker_report")
            ORDER BY id LIMIT \(Int64(WorkerReportRules.countMaximum))
            """
        ) { WorkerReport(identifier: $0.text(0), reportedAtMilliseconds: $0.integer(1), content: $0.bytes(2)) }
    }

    /// Forgets the report of a process.
    public func removeReport(of identifier: String) throws(RegistryError) {
        try write(durable: false, "DELETE FROM \(table: "worker_report") WHERE id = \(identifier)")
    }
}

extension AuditRegistry where Self: SQLStore {
    /// Adds an entry.
    public func addAuditEntry(_ entry: AuditEntry) throws(RegistryError) -> Int64 {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        return try write(durable: true) { (transaction) throws(RegistryError) in
            var number: Int64 = 0
            try transaction.run([
                """
                INSERT INTO \(table: "audit_entry") (\(sql: AuditEntry.storedColumns.names()))
                VALUES (\(AuditEntry.storedColumns, of: entry)) RETURNING number
                """
            ]) { _, row in number = row.integer(0) }
            try transaction.commit([
                "DELETE FROM \(table: "audit_entry") WHERE number <= \(number - AuditRules.keptCount)"
            ])
            return number
        }
    }

    /// Notes how far an action is.
    public func updateAuditEntry(_ number: Int64, _ progress: AuditEntry.Progress) throws(RegistryError) {
        try write(
            durable: progress.state != .running,
            """
            UPDATE \(table: "audit_entry") SET state = \(progress.state.rawValue), done = \(Int64(progress.doneCount)),
                refused = \(Int64(progress.refusedCount)), detail = \(progress.detail),
                changed_at = \(progress.changedAtMilliseconds)
            WHERE number = \(number)
            """)
    }

    /// Entries, the newest first.
    public func auditEntries(before number: Int64?, limit: Int) throws(RegistryError) -> [AuditEntry] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        return try ask(
            """
            SELECT \(sql: AuditEntry.readColumns) FROM \(table: "audit_entry") WHERE number < \(number ?? .max)
            ORDER BY number DESC LIMIT \(Int64(max(limit, 0)))
            """
        ) { AuditEntry($0) }
    }

    /// One entry, or nil.
    public func auditEntry(_ number: Int64) throws(RegistryError) -> AuditEntry? {
        try ask(
            "SELECT \(sql: AuditEntry.readColumns) FROM \(table: "audit_entry") WHERE number = \(number)"
        ) { AuditEntry($0) }.first
    }
}
