import Messages
public import RegistryCore

extension OutcomeOutboxRegistry where Self: SQLStore {
    /// Adds outcomes.
    public func addWaitingOutcomes(_ outcomes: [WaitingOutcome]) throws(RegistryError) {
        guard !outcomes.isEmpty else { return }
        try requireSchema(OutcomeHistoryRules.schemaVersion, for: "Outcomes that wait for RabbitMQ")
        let columns = WaitingOutcome.storedColumns
        try write(durable: true) { (transaction) throws(RegistryError) in
            var count: Int64 = 0
            try transaction.run(["SELECT count(*) FROM \(table: "waiting_outcome")"]) { count = $1.integer(0) }
            guard count + Int64(outcomes.count) <= OutcomeHistoryRules.waitingMaximum else {
                throw RegistryError(.quotaExceeded, "\(count) outcomes wait for RabbitMQ, and no more may.")
            }
            try transaction.commit([
                """
                INSERT INTO \(table: "waiting_outcome") (\(sql: columns.names()))
                SELECT \(sql: columns.names(of: "r")) FROM \(rows: columns, of: outcomes) WHERE true ORDER BY r.k
                """
            ])
        }
    }

    /// Takes outcomes that wait.
    public func takeWaitingOutcomes(
        limit: Int, atMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [(number: Int64, outcome: WaitingOutcome)] {
        guard try schemaState().version >= OutcomeHistoryRules.schemaVersion else { return [] }
        // Mostly there is none, and nothing is written.
        let table: SQLStatement = "\(table: "waiting_outcome")"
        guard try !ask("SELECT number FROM \(table) LIMIT 1", { $0.integer(0) }).isEmpty else { return [] }
        let free = milliseconds - OutcomeHistoryRules.takenMilliseconds
        var taken: [(number: Int64, outcome: WaitingOutcome)] = []
        try write(durable: false) { (transaction) throws(RegistryError) in
            taken = []
            try transaction.commit([
                """
                UPDATE \(table) SET taken_at = \(milliseconds) WHERE number IN (
                    SELECT number FROM \(table) WHERE taken_at < \(free) ORDER BY number
                    LIMIT \(Int64(max(0, limit)))\(postgres: " FOR UPDATE SKIP LOCKED"))
                RETURNING number, routing_key, envelope, body
                """
            ]) { (_, row) throws(RegistryError) in
                guard let message = Message(envelope: row.bytes(2), body: row.bytes(3)) else {
                    throw row.corrupt("the envelope of the waiting outcome \(row.integer(0))")
                }
                taken.append((row.integer(0), WaitingOutcome(routingKey: row.text(1), message: message)))
            }
        }
        return taken.sorted { $0.number < $1.number }
    }

    /// Removes outcomes.
    public func removeWaitingOutcomes(_ numbers: [Int64]) throws(RegistryError) {
        guard !numbers.isEmpty else { return }
        try write(
            durable: false, "DELETE FROM \(table: "waiting_outcome") WHERE number \(among: numbers)")
    }
}

extension WaitingOutcome {
    fileprivate static let storedColumns: [StoredColumn<WaitingOutcome>] = [
        .text("routing_key") { $0.routingKey },
        .text("envelope") { String(decoding: $0.message.envelope, as: UTF8.self) },
        .bytes("body") { $0.message.body },
    ]
}
