public import ChangeEvents
public import RegistryCore

extension EventMemoryRegistry where Self: SQLStore {
    /// Whether the registry has the tables of the memory.
    public func hasEventMemory() throws(RegistryError) -> Bool {
        try schemaState().version >= EventMemoryRules.schemaVersion
    }

    /// The events among some that it remembers.
    public func rememberedEvents(
        among identities: [EventIdentity], endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [RememberedEvent] {
        guard !identities.isEmpty else { return [] }
        return try ask(
            """
            SELECT r.k, m.content FROM \(rows: EventIdentity.columns, of: identities)
            CROSS JOIN \(table: "event_memory") m
            WHERE m.event = r.event AND m.rest = r.rest AND m.ended_at >= \(Self.seconds(milliseconds))
            """
        ) { RememberedEvent(identity: identities[Int($0.integer(0))], content: $0.integer(1)) }
    }

    /// The content of a remembered event whose owner is not known.
    public func rememberedContent(
        ofKey key: Int64, endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> Int64? {
        try ask(
            """
            SELECT m.content FROM \(table: "event_memory") m
            WHERE m.event = \(key) AND m.ended_at >= \(Self.seconds(milliseconds))
            """
        ) { $0.integer(0) }.first
    }

    /// Remembers events.
    public func remember(
        _ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        guard !events.isEmpty else { return }
        // In one order, so that two processes never wait for each other. SQLite writes row by row in any case.
        let sorted = events.sorted { $0.identity.key < $1.identity.key }
        let columns = RememberedEvent.storedColumns
        try write(
            durable: false,
            """
            INSERT INTO \(table: "event_memory") (\(sql: columns.names()), ended_at)
            SELECT \(sql: columns.names(of: "r")), \(Self.seconds(milliseconds))
            FROM \(rows: columns, of: sorted) WHERE true \(postgres: "ORDER BY r.k")
            ON CONFLICT (event) DO UPDATE SET \(sql: columns.replacements()), ended_at = excluded.ended_at
            """)
    }

    /// Forgets the events of a part that are too old, and the oldest of those that are too many.
    public func forgetEvents(
        in slice: EventMemorySlice, endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int
    ) throws(RegistryError) -> (expired: Int, surplus: Int) {
        try requireSchema(EventMemoryRules.schemaVersion, for: "The memory of events")
        let (first, last) = (slice.keys.lowerBound, slice.keys.upperBound)
        let counts = try write(durable: false) { (transaction) throws(RegistryError) in
            try transaction.commit([
                """
                DELETE FROM \(table: "event_memory")
                WHERE event BETWEEN \(first) AND \(last) AND ended_at < \(Self.seconds(milliseconds))
                """,
                """
                DELETE FROM \(table: "event_memory") WHERE event IN (
                    SELECT m.event FROM \(table: "event_memory") m WHERE m.event BETWEEN \(first) AND \(last)
                    ORDER BY m.ended_at DESC, m.event LIMIT \(Int64.max) OFFSET \(Int64(slice.share(of: maximum))))
                """,
            ])
        }
        return (counts[0], counts[1])
    }

    private static func seconds(_ milliseconds: Int64) -> Int64 {
        let seconds = (milliseconds - EventMemoryRules.epochMilliseconds) / 1_000
        return min(max(seconds, Int64(Int32.min)), Int64(Int32.max))
    }
}

extension EventIdentity {
    fileprivate static let columns: [StoredColumn<EventIdentity>] = [
        .integer("event") { $0.key }, .integer("rest") { $0.rest },
    ]
}

extension RememberedEvent {
    /// The columns of `event_memory` but the time.
    fileprivate static let storedColumns: [StoredColumn<RememberedEvent>] = [
        .integer("event") { $0.identity.key }, .integer("rest") { $0.identity.rest },
        .integer("content") { $0.content },
    ]
}
