public import PushCore

extension PostgresRegistry: WorkerReportRegistry {
    /// Keeps the report of a process.
    public func saveReport(_ report: WorkerReport) throws(RegistryError) {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        try report.check()
        let calls = [
            Call(
                """
                INSERT INTO apus.worker_report (id, reported_at, content) VALUES ($1::text, $2::bigint, $3::bytea)
                ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at, content = excluded.content
                """, [.text(report.identifier), .integer(report.reportedAtMilliseconds), .bytes(report.content)]),
            Call(
                "DELETE FROM apus.worker_report WHERE reported_at < $1::bigint",
                [.integer(report.reportedAtMilliseconds - WorkerReportRules.keptMilliseconds)]),
        ]
        try writing(durable: false) { (transaction) throws(RegistryError) in _ = try transaction.commit(calls) }
    }

    /// The newest report of each process.
    public func workerReports() throws(RegistryError) -> [WorkerReport] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "Reports of processes")
        let call = Call(
            """
            SELECT \(WorkerReport.readColumns) FROM apus.worker_report
            ORDER BY id LIMIT \(WorkerReportRules.countMaximum)
            """)
        return try ask([call])[0].map { WorkerReport($0) }
    }

    /// Forgets the report of a process.
    public func removeReport(of identifier: String) throws(RegistryError) {
        let call = Call("DELETE FROM apus.worker_report WHERE id = $1::text", [.text(identifier)])
        try writing(durable: false) { (transaction) throws(RegistryError) in _ = try transaction.commit([call]) }
    }
}

extension PostgresRegistry: AuditRegistry {
    /// Adds an entry.
    public func addAuditEntry(_ entry: AuditEntry) throws(RegistryError) -> Int64 {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        let columns = AuditEntry.storedColumns
        let insertion = Call(
            """
            INSERT INTO apus.audit_entry (\(columns.names()))
            SELECT \(columns.values(of: "r")) FROM unnest(\(columns.arrays(from: 1))) r(\(columns.names()))
            RETURNING number
            """, columns.parameters([entry]))
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let number = try transaction.run([insertion])[0].integer(0, 0)
            try transaction.commit([
                Call(
                    "DELETE FROM apus.audit_entry WHERE number <= $1::bigint",
                    [.integer(number - AuditRules.keptCount)])
            ])
            return number
        }
    }

    /// Notes how far an action is.
    public func updateAuditEntry(_ number: Int64, _ progress: AuditEntry.Progress) throws(RegistryError) {
        let call = Call(
            """
            UPDATE apus.audit_entry SET state = $2::text, done = $3::bigint, refused = $4::bigint, detail = $5::text,
                changed_at = $6::bigint
            WHERE number = $1::bigint
            """,
            [
                .integer(number), .text(progress.state.rawValue), .integer(Int64(progress.doneCount)),
                .integer(Int64(progress.refusedCount)), .text(progress.detail),
                .integer(progress.changedAtMilliseconds),
            ])
        try writing(durable: progress.state != .running) { (transaction) throws(RegistryError) in
            _ = try transaction.commit([call])
        }
    }

    /// Entries, the newest first.
    public func auditEntries(before number: Int64?, limit: Int) throws(RegistryError) -> [AuditEntry] {
        try requireSchema(WorkerReportRules.schemaVersion, for: "The audit log")
        let call = Call(
            """
            SELECT \(AuditEntry.readColumns) FROM apus.audit_entry WHERE number < $1::bigint
            ORDER BY number DESC LIMIT $2::bigint
            """, [.integer(number ?? .max), .integer(Int64(max(limit, 0)))])
        return try ask([call])[0].map { AuditEntry($0) }
    }

    /// One entry, or nil.
    public func auditEntry(_ number: Int64) throws(RegistryError) -> AuditEntry? {
        let call = Call(
            "SELECT \(AuditEntry.readColumns) FROM apus.audit_entry WHERE number = $1::bigint", [.integer(number)])
        return try ask([call])[0].first.map { AuditEntry($0) }
    }
}
