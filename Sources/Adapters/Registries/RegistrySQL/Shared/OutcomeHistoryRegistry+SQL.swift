public import RegistryCore

extension OutcomeHistoryRegistry where Self: SQLStore {
    /// Keeps outcomes.
    public func keepOutcomes(
        _ outcomes: [KeptOutcome], atMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        guard !outcomes.isEmpty else { return }
        try requireSchema(OutcomeHistoryRules.schemaVersion, for: "The history of events")
        let columns = KeptOutcome.storedColumns
        // In one order, so that two processes never wait for each other.
        let sorted = outcomes.sorted { $0.identifier < $1.identifier }
        try write(
            durable: false,
            """
            INSERT INTO \(table: "event_outcome") (\(sql: columns.names()), kept_at)
            SELECT \(sql: columns.names(of: "r")), \(milliseconds) FROM \(rows: columns, of: sorted)
            WHERE true ORDER BY r.k ON CONFLICT (outcome) DO NOTHING
            """)
    }

    /// The bodies of the outcomes of the events with an identifier.
    public func keptOutcomes(ofEvent identifier: String, limit: Int) throws(RegistryError) -> [[UInt8]] {
        guard try schemaState().version >= OutcomeHistoryRules.schemaVersion else { return [] }
        return try ask(
            """
            SELECT body FROM \(table: "event_outcome") WHERE event = \(identifier) ORDER BY number
            LIMIT \(Int64(max(0, limit)))
            """
        ) { $0.bytes(0) }
    }

    /// Forgets outcomes that are too old or too many.
    public func forgetOutcomes(
        beforeMilliseconds milliseconds: Int64, outcomesMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> Int {
        try requireSchema(OutcomeHistoryRules.schemaVersion, for: "The history of events")
        let table: SQLStatement = "\(table: "event_outcome")"
        // The oldest rows alone are looked at, by their numbers.
        return try write(
            durable: false,
            """
            DELETE FROM \(table) WHERE number IN (
                SELECT o.number FROM (SELECT number, kept_at FROM \(table) ORDER BY number LIMIT \(Int64(limit))) o
                WHERE o.kept_at < \(milliseconds)
                    OR o.number <= (SELECT max(number) FROM \(table)) - \(Int64(maximum)))
            """)
    }
}

extension KeptOutcome {
    /// The columns of `event_outcome` but the number and the time.
    fileprivate static let storedColumns: [StoredColumn<KeptOutcome>] = [
        .text("outcome") { $0.identifier }, .text("event") { $0.eventIdentifier }, .bytes("body") { $0.body },
    ]
}
