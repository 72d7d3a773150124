public import PushCore

extension SQLiteRegistry: WorkerReportRegistry {
    /// Keeps the report of a process.
    public func saveReport(_ report: WorkerReport) throws(RegistryError) {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        try report.check()
        try writing(durable: false) { () throws(RegistryError) in
            let insertion = try statements.statement(
                """
                INSERT INTO worker_report (id, reported_at, content) VALUES (?1, ?2, ?3)
                ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at, content = excluded.content
                """)
            insertion.bind(1, report.identifier)
            insertion.bind(2, report.reportedAtMilliseconds)
            insertion.bind(3, report.content)
            try insertion.run()
            let deletion = try statements.statement("DELETE FROM worker_report WHERE reported_at < ?")
            deletion.bind(1, report.reportedAtMilliseconds - WorkerReportRules.keptMilliseconds)
            try deletion.run()
        }
    }

    /// The newest report of each process.
    public func workerReports() throws(RegistryError) -> [WorkerReport] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        let statement = try statements.statement(
            """
            SELECT \(WorkerReport.readColumns) FROM worker_report
            ORDER BY id LIMIT \(WorkerReportRules.countMaximum)
            """)
        var reports: [WorkerReport] = []
        try statement.forEachRow { row in reports.append(WorkerReport(row)) }
        return reports
    }

    /// Forgets the report of a process.
    public func removeReport(of identifier: String) throws(RegistryError) {
        try writing(durable: false) { () throws(RegistryError) in
            let statement = try statements.statement("DELETE FROM worker_report WHERE id = ?")
            statement.bind(1, identifier)
            try statement.run()
        }
    }
}

extension SQLiteRegistry: AuditRegistry {
    /// Adds an entry.
    public func addAuditEntry(_ entry: AuditEntry) throws(RegistryError) -> Int64 {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        return try writing(durable: true) { () throws(RegistryError) in
            let insertion = try statements.statement(
                """
                INSERT INTO audit_entry (\(AuditEntry.storedColumns.names()))
                VALUES (\(AuditEntry.storedColumns.parameters(from: 1))) RETURNING number
                """)
            insertion.bind(AuditEntry.storedColumns, of: entry, from: 1)
            let number = try insertion.firstInteger() ?? 0
            let deletion = try statements.statement("DELETE FROM audit_entry WHERE number <= ?")
            deletion.bind(1, number - AuditRules.keptCount)
            try deletion.run()
            return number
        }
    }

    /// Notes how far an action is.
    public func updateAuditEntry(_ number: Int64, _ progress: AuditEntry.Progress) throws(RegistryError) {
        try writing(durable: progress.state != .running) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                UPDATE audit_entry SET state = ?2, done = ?3, refused = ?4, detail = ?5, changed_at = ?6
                WHERE number = ?1
                """)
            statement.bind(1, number)
            statement.bind(2, progress.state.rawValue)
            statement.bind(3, Int64(progress.doneCount))
            statement.bind(4, Int64(progress.refusedCount))
            statement.bind(5, progress.detail)
            statement.bind(6, progress.changedAtMilliseconds)
            try statement.run()
        }
    }

    /// Entries, the newest first.
    public func auditEntries(before number: Int64?, limit: Int) throws(RegistryError) -> [AuditEntry] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        let statement = try statements.statement(
            "SELECT \(AuditEntry.readColumns) FROM audit_entry WHERE number < ?1 ORDER BY number DESC LIMIT ?2")
        statement.bind(1, number ?? .max)
        statement.bind(2, Int64(max(limit, 0)))
        var entries: [AuditEntry] = []
        try statement.forEachRow { row in entries.append(AuditEntry(row)) }
        return entries
    }

    /// One entry, or nil.
    public func auditEntry(_ number: Int64) throws(RegistryError) -> AuditEntry? {
        let statement = try statements.statement("SELECT \(AuditEntry.readColumns) FROM audit_entry WHERE number = ?")
        statement.bind(1, number)
        defer { statement.reset() }
        return try statement.step() ? AuditEntry(statement) : nil
    }
}
