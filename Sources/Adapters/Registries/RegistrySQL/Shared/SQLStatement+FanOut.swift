import ChangeEvents
import RegistryCore

/// The statements about large fan-outs.
extension SQLStatement {
    // MARK: Reading

    /// One fan-out by its number.
    static func fanOut(_ number: Int64) -> SQLStatement {
        "SELECT \(sql: FanOut.readColumns) FROM \(table: "fan_out") f WHERE f.id = \(number)"
    }

    /// The fan-outs of events, in the order of the events.
    static func fanOuts(of events: [EventDigest]) -> SQLStatement {
        let columns: [StoredColumn<EventDigest>] = [.bytes("event") { $0.bytes }]
        return """
            SELECT \(sql: FanOut.readColumns) FROM \(rows: columns, of: events) CROSS JOIN \(table: "fan_out") f
            WHERE f.event = r.event ORDER BY r.k
            """
    }

    /// Index in the list, whether the fan-out is cancelled, whether the chunk has ended; known ones only.
    static func chunkStates(_ keys: [FanOutChunkKey]) -> SQLStatement {
        """
        SELECT r.k, f.state = 'cancelled', f.state = 'done' OR coalesce(c.is_ended, false)
        FROM \(rows: FanOutChunkKey.columns, of: keys) CROSS JOIN \(table: "fan_out") f
        LEFT JOIN \(table: "fan_out_chunk") c ON c.fan_out = f.id AND c.number = r.number
        WHERE f.id = r.fan_out AND f.event = r.event
        """
    }

    // MARK: Beginning

    /// Removes some of the fan-outs that ended long ago.
    static func forgetFanOuts(_ nowMilliseconds: Int64) -> SQLStatement {
        """
        DELETE FROM \(table: "fan_out") WHERE id IN (
            SELECT f.id FROM \(table: "fan_out") f
            WHERE f.changed_at < \(nowMilliseconds - FanOutRules.doneKeptMilliseconds)
                AND (f.state = 'done' OR f.changed_at < \(nowMilliseconds - FanOutRules.otherKeptMilliseconds))
            ORDER BY f.changed_at LIMIT \(sql: "\(FanOutRules.forgottenAtOnceMaximum)")
            \(postgres: "FOR UPDATE SKIP LOCKED"))
        """
    }

    /// Adds the fan-out of an event, unless it has one.
    static func beginFanOut(_ event: FanOutEvent, _ planner: Int64, _ nowMilliseconds: Int64) -> SQLStatement {
        // Existing rows are left out first, because ON CONFLICT alone uses up a number.
        """
        INSERT INTO \(table: "fan_out") (event, event_source, event_id, event_type, app, state, newest_subscription,
            planner, planner_until, begun_at, changed_at)
        SELECT \(event.digest.bytes), \(event.source), \(event.identifier), \(event.type), \(event.app), 'planning',
            (SELECT coalesce(max(s.id), 0) FROM \(table: "subscription") s), \(planner),
            \(nowMilliseconds + FanOutRules.planningMilliseconds), \(nowMilliseconds), \(nowMilliseconds)
        WHERE NOT EXISTS (SELECT 1 FROM \(table: "fan_out") f WHERE f.event = \(event.digest.bytes))
        ON CONFLICT (event) DO NOTHING
        """
    }

    /// Lets a planner go on with a fan-out that it has already, or that no other has any more.
    static func takeOver(_ event: EventDigest, _ planner: Int64, _ nowMilliseconds: Int64) -> SQLStatement {
        """
        UPDATE \(table: "fan_out") SET planner = \(planner),
            planner_until = \(nowMilliseconds + FanOutRules.planningMilliseconds)
        WHERE event = \(event.bytes) AND state = 'planning'
            AND (planner = \(planner) OR planner_until <= \(nowMilliseconds))
        """
    }

    // MARK: Planning

    /// Adds chunks to a fan-out, which is locked, if its planner and its last chunk are as they should be.
    static func plan(
        _ chunks: [FanOutChunk], of number: Int64, _ planner: Int64, _ nowMilliseconds: Int64
    ) -> [SQLStatement] {
        let isExpected: SQLStatement = """
            id = \(number) AND planner = \(planner) AND chunks_planned + 1 = \(chunks.first.map { Int64($0.number) })
                AND state = 'planning' AND NOT is_whole
            """
        let end = chunks.last?.through
        let deviceCount = chunks.reduce(0) { $0 + Int64($1.deviceCount) }
        let columns = FanOutChunk.storedColumns
        return [
            """
            INSERT INTO \(table: "fan_out_chunk") (fan_out, \(sql: columns.names()))
            SELECT f.id, \(sql: columns.names(of: "r")) FROM \(rows: columns, of: chunks)
            CROSS JOIN \(table: "fan_out") f WHERE \(isExpected)
            """,
            """
            UPDATE \(table: "fan_out") SET chunks_planned = chunks_planned + \(Int64(chunks.count)),
                devices_planned = devices_planned + \(deviceCount),
                position = \(end?.position), position_subscription = \(end?.subscription),
                is_whole = \(sql: end == nil ? "true" : "false"), changed_at = \(nowMilliseconds),
                planner_until = \(nowMilliseconds + FanOutRules.planningMilliseconds)
            WHERE \(isExpected)
            """,
        ]
    }

    /// Notes that the broker has confirmed the chunks up to one.
    static func published(
        through chunk: Int, of number: Int64, _ planner: Int64, _ nowMilliseconds: Int64
    ) -> SQLStatement {
        """
        UPDATE \(table: "fan_out") SET changed_at = \(nowMilliseconds),
            chunks_published = \(sqlite: "max", postgres: "greatest")(chunks_published,
                \(sqlite: "min", postgres: "least")(\(Int64(chunk)), chunks_planned)),
            planner_until = CASE WHEN planner = \(planner)
                THEN \(nowMilliseconds + FanOutRules.planningMilliseconds) ELSE planner_until END,
            state = CASE WHEN is_whole AND \(Int64(chunk)) >= chunks_planned THEN 'planned' ELSE state END
        WHERE id = \(number) AND state = 'planning'
        """
    }

    // MARK: Ending

    /// Makes others wait who change these fan-outs, in one order so that two transactions do not wait for each other.
    static func lockFanOuts(_ numbers: [Int64]) -> SQLStatement {
        """
        SELECT f.id FROM \(table: "fan_out") f WHERE f.id \(among: numbers)
        \(postgres: "ORDER BY f.id FOR NO KEY UPDATE")
        """
    }

    /// Counts chunks that have not ended, each named once, and marks them as ended; their fan-outs are locked.
    static func end(_ keys: [FanOutChunkKey], isCancelled: Bool, _ nowMilliseconds: Int64) -> [SQLStatement] {
        let (columns, count) = (FanOutChunkKey.columns, isCancelled ? "chunks_cancelled" : "chunks_served")
        return [
            """
            UPDATE \(table: "fan_out") AS f SET \(sql: count) = \(sql: count) + x.ended, changed_at = \(nowMilliseconds)
            FROM (SELECT r.fan_out, r.event, \(sqlite: "1", postgres: "count(*)") AS ended
                FROM \(rows: columns, of: keys) CROSS JOIN \(table: "fan_out_chunk") c
                WHERE c.fan_out = r.fan_out AND c.number = r.number AND NOT c.is_ended
                \(postgres: "GROUP BY r.fan_out, r.event")) x
            WHERE f.id = x.fan_out AND f.event = x.event
            """,
            """
            UPDATE \(table: "fan_out_chunk") AS c SET is_ended = true
            FROM \(rows: columns, of: keys) CROSS JOIN \(table: "fan_out") f
            WHERE c.fan_out = r.fan_out AND c.number = r.number AND f.id = r.fan_out AND f.event = r.event
                AND NOT c.is_ended
            """,
        ]
    }

    /// Marks a planned fan-out as done if each of its chunks has ended, and forgets the chunks.
    static func finish(_ number: Int64) -> [SQLStatement] {
        [
            """
            UPDATE \(table: "fan_out") SET state = 'done' WHERE id = \(number) AND state = 'planned'
                AND chunks_served + chunks_cancelled >= chunks_planned
            """,
            """
            DELETE FROM \(table: "fan_out_chunk") WHERE fan_out = (
                SELECT f.id FROM \(table: "fan_out") f WHERE f.id = \(number) AND f.state = 'done')
            """,
        ]
    }
}

extension FanOutChunkKey {
    fileprivate static let columns: [StoredColumn<FanOutChunkKey>] = [
        .integer("fan_out") { $0.fanOut }, .bytes("event") { $0.event.bytes }, .integer("number") { Int64($0.chunk) },
    ]
}
