public import RegistryCore

extension EventMemoryRegistry where Self: SQLStore {
    /// Whether the registry has the tables of the memory.
    public func hasEventMemory() throws(RegistryError) -> Bool {
        try schemaState().version >= EventMemoryRules.schemaVersion
    }

    /// The blocks after one.
    public func eventMemoryBlocks(after number: Int64, limit: Int) throws(RegistryError) -> [EventMemoryBlock] {
        try ask(
            """
            SELECT number, ended_at, events FROM \(table: "event_memory") WHERE number > \(number)
            ORDER BY number LIMIT \(Int64(limit))
            """, EventMemoryBlock.init)
    }

    /// The blocks of some numbers.
    public func eventMemoryBlocks(numbered numbers: [Int64]) throws(RegistryError) -> [EventMemoryBlock] {
        guard !numbers.isEmpty else { return [] }
        return try ask(
            """
            SELECT number, ended_at, events FROM \(table: "event_memory") WHERE number \(among: numbers)
            ORDER BY number
            """, EventMemoryBlock.init)
    }

    /// Remembers events.
    public func remember(
        _ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        guard !events.isEmpty else { return }
        let additions = EventMemoryBlock.parts(of: events).map { SQLStatement.addBlock($0, milliseconds) }
        try write(durable: false) { (transaction) throws(RegistryError) in
            _ = try transaction.commit([.lockEventMemory] + additions)
        }
    }

    /// Forgets the oldest blocks that are too old, or have more events after them than are kept.
    public func forgetEvents(
        endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> (blocks: Int, surplusEvents: Int) {
        try requireSchema(EventMemoryRules.schemaVersion, for: "The memory of events")
        let table: SQLStatement = "\(table: "event_memory")"
        // The oldest rows alone are looked at, by their numbers.
        let removal: SQLStatement = """
            DELETE FROM \(table) WHERE number IN (
                SELECT o.number FROM (SELECT number, ended_at, total FROM \(table) ORDER BY number
                    LIMIT \(Int64(limit))) o
                CROSS JOIN (SELECT number, total FROM \(table) ORDER BY number DESC LIMIT 1) n
                WHERE o.number < n.number
                    AND (o.ended_at < \(milliseconds) OR o.total <= n.total - \(Int64(maximum))))
            RETURNING ended_at, length(events)
            """
        return try write(durable: false) { (transaction) throws(RegistryError) in
            var (blocks, surplusBytes) = (0, 0)
            try transaction.commit([removal]) { (_, row) throws(RegistryError) in
                blocks += 1
                if row.integer(0) >= milliseconds { surplusBytes += Int(clamping: row.integer(1)) }
            }
            return (blocks, surplusBytes / EventMemoryBlock.bytesPerEvent)
        }
    }
}

extension SQLStatement {
    /// Waits for others that add blocks, until the transaction ends.
    ///
    /// Without it a block with a smaller number could be committed later, and be missed by those who have read a
    /// greater one. The number is the letters `APUS`, then `EMEM`.
    fileprivate static let lockEventMemory: SQLStatement = """
        SELECT \(sqlite: "1", postgres: "pg_advisory_xact_lock(\(0x4150_5553_454D_454D))")
        """

    /// Adds a block behind all others.
    ///
    /// Its number is the time in microseconds, or one more than the last. So a table that has lost its newest rows, in
    /// a failover or by a migration that was undone, does not give numbers again that somebody has read.
    fileprivate static func addBlock(_ bytes: [UInt8], _ milliseconds: Int64) -> SQLStatement {
        let count = Int64(bytes.count / EventMemoryBlock.bytesPerEvent)
        return """
            INSERT INTO \(table: "event_memory") (number, ended_at, total, events)
            SELECT \(sqlite: "max", postgres: "greatest")(coalesce(m.number, 0) + 1, \(milliseconds &* 1_000)),
                \(milliseconds), coalesce(m.total, 0) + \(count), \(bytes)
            FROM (SELECT 1 AS one) o LEFT JOIN (
                SELECT number, total FROM \(table: "event_memory") ORDER BY number DESC LIMIT 1) m ON true
            """
    }
}

extension EventMemoryBlock {
    fileprivate init(_ row: any RowReader) {
        self.init(number: row.integer(0), endedAtMilliseconds: row.integer(1), bytes: row.bytes(2))
    }
}
