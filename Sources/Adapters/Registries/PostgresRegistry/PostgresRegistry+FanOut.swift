public import ChangeEvents
public import RegistryCore
import RegistrySQL

extension PostgresRegistry: FanOutRegistry {
    /// Finds the fan-out of an event, or begins one.
    public func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        let rows = try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([
                FanOutCalls.forget(nowMilliseconds), FanOutCalls.begin(event, planner, nowMilliseconds),
                FanOutCalls.takeOver(event.digest, planner, nowMilliseconds), FanOutCalls.fanOuts(of: [event.digest]),
            ])[3]
        }
        return try require(rows)
    }

    /// Writes down the next chunks.
    public func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        guard let first = chunks.first, let last = chunks.last else {
            return try require(try ask([FanOutCalls.fanOut(number)])[0])
        }
        let call = FanOutCalls.plan(
            chunks, of: number, first: first.number, end: last.through, planner: planner,
            nowMilliseconds: nowMilliseconds)
        return try change(number, [call], durable: true)
    }

    /// Chunks of a fan-out, in order, after one.
    public func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        try ask([FanOutCalls.chunks(of: number, after: chunk, limit: limit)])[0].map { FanOutChunk($0) }
    }

    /// Notes that the broker has confirmed the chunks up to one.
    public func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        let call = FanOutCalls.published(
            through: chunk, of: number, planner: planner, nowMilliseconds: nowMilliseconds)
        return try change(number, [call] + FanOutCalls.finish([number]), durable: false)
    }

    /// The stored state of chunks.
    public func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        guard !keys.isEmpty else { return [] }
        var states = Array(repeating: FanOutChunkState.waiting, count: keys.count)
        for row in try ask([FanOutCalls.chunkStates(keys)])[0] {
            let isServed = row.integer(2) != 0
            let isCancelled = row.integer(1) != 0
            states[Int(row.integer(0)) - 1] = isServed ? .served : isCancelled ? .cancelled : .waiting
        }
        return states
    }

    /// Notes that chunks have ended.
    public func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        guard !endings.isEmpty else { return }
        let numbers = Set(endings.map(\.key.fanOut)).sorted()
        var calls = [FanOutCalls.lock(numbers)]
        for isCancelled in [false, true] {
            let keys = Set(endings.filter { $0.isCancelled == isCancelled }.map(\.key))
            if keys.isEmpty { continue }
            calls.append(
                FanOutCalls.end(Array(keys), isCancelled: isCancelled, nowMilliseconds: nowMilliseconds))
        }
        calls += FanOutCalls.finish(numbers)
        try writing(durable: false) { (transaction) throws(RegistryError) in _ = try transaction.commit(calls) }
    }

    /// The fan-outs of events.
    public func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] {
        guard !events.isEmpty else { return [] }
        return try decodeFanOuts(try ask([FanOutCalls.fanOuts(of: events)])[0])
    }

    /// Fan-outs, the newest first.
    public func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] {
        try decodeFanOuts(try ask([FanOutCalls.fanOuts(before: number ?? .max, limit: limit)])[0])
    }

    /// One fan-out, or nil.
    public func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? {
        try decodeFanOuts(try ask([FanOutCalls.fanOut(number)])[0]).first
    }

    /// Cancels a fan-out.
    public func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? {
        let rows = try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([
                FanOutCalls.cancel(number, nowMilliseconds: nowMilliseconds), FanOutCalls.fanOut(number),
            ])[1]
        }
        return try decodeFanOuts(rows).first
    }

    /// Changes a fan-out in one transaction and reads it afterwards.
    private func change(_ number: Int64, _ calls: [Call], durable: Bool) throws(RegistryError) -> FanOut {
        let rows = try writing(durable: durable) { (transaction) throws(RegistryError) in
            try transaction.commit([FanOutCalls.lock([number])] + calls + [FanOutCalls.fanOut(number)]).last
        }
        guard let rows else { preconditionFailure("each statement has an answer") }
        return try require(rows)
    }

    // MARK: Rows

    private func require(_ rows: Rows) throws(RegistryError) -> FanOut {
        guard let row = rows.first else { throw RegistryError.noFanOut }
        return try FanOut(row)
    }

    private func decodeFanOuts(_ rows: Rows) throws(RegistryError) -> [FanOut] {
        try rows.map { (row) throws(RegistryError) in try FanOut(row) }
    }
}

/// The statements about large fan-outs.
enum FanOutCalls {
    // MARK: Reading

    /// One fan-out by its number.
    static func fanOut(_ number: Int64) -> Call {
        Call("SELECT \(FanOut.readColumns) FROM apus.fan_out f WHERE f.id = $1::bigint", [.integer(number)])
    }

    /// The fan-outs of events, in the order of the events.
    static func fanOuts(of events: [EventDigest]) -> Call {
        Call(
            """
            SELECT \(FanOut.readColumns) FROM unnest($1::bytea[]) WITH ORDINALITY r(event, k)
            JOIN apus.fan_out f ON f.event = r.event ORDER BY r.k
            """, [.byteLists(events.map(\.bytes))])
    }

    /// Fan-outs, the newest first.
    static func fanOuts(before number: Int64, limit: Int) -> Call {
        Call(
            """
            SELECT \(FanOut.readColumns) FROM apus.fan_out f WHERE f.id < $1::bigint
            ORDER BY f.id DESC LIMIT $2::bigint
            """, [.integer(number), .integer(Int64(max(limit, 0)))])
    }

    /// Chunks of a fan-out, in order.
    static func chunks(of number: Int64, after chunk: Int, limit: Int) -> Call {
        Call(
            """
            SELECT \(FanOutChunk.readColumns) FROM apus.fan_out_chunk c
            WHERE c.fan_out = $1::bigint AND c.number > $2::bigint ORDER BY c.number LIMIT $3::bigint
            """, [.integer(number), .integer(Int64(chunk)), .integer(Int64(max(limit, 0)))])
    }

    /// Index in the list from 1, whether the fan-out is cancelled, whether the chunk has ended; known ones only.
    static func chunkStates(_ keys: [FanOutChunkKey]) -> Call {
        Call(
            """
            SELECT r.k, f.state = 'cancelled', f.state = 'done' OR coalesce(c.is_ended, false)
            FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) WITH ORDINALITY r(fan_out, event, number, k)
            JOIN apus.fan_out f ON f.id = r.fan_out AND f.event = r.event
            LEFT JOIN apus.fan_out_chunk c ON c.fan_out = f.id AND c.number = r.number
            """, parameters(keys))
    }

    private static func parameters(_ keys: [FanOutChunkKey]) -> [Parameter] {
        [
            .integers(keys.map(\.fanOut)), .byteLists(keys.map(\.event.bytes)), .integers(keys.map { Int64($0.chunk) }),
        ]
    }

    // MARK: Beginning

    /// Removes some of the fan-outs that ended long ago.
    static func forget(_ nowMilliseconds: Int64) -> Call {
        Call(
            """
            DELETE FROM apus.fan_out WHERE id IN (
                SELECT f.id FROM apus.fan_out f WHERE f.changed_at < $1::bigint
                    AND (f.state = 'done' OR f.changed_at < $2::bigint)
                ORDER BY f.changed_at LIMIT \(FanOutRules.forgottenAtOnceMaximum) FOR UPDATE SKIP LOCKED)
            """,
            [
                .integer(nowMilliseconds - FanOutRules.doneKeptMilliseconds),
                .integer(nowMilliseconds - FanOutRules.otherKeptMilliseconds),
            ])
    }

    /// Adds the fan-out of an event, unless it has one.
    static func begin(_ event: FanOutEvent, _ planner: Int64, _ nowMilliseconds: Int64) -> Call {
        // Existing rows are left out first, because ON CONFLICT alone uses up a number.
        Call(
            """
            INSERT INTO apus.fan_out (event, event_source, event_id, event_type, app, state, newest_subscription,
                planner, planner_until, begun_at, changed_at)
            SELECT $1::bytea, $2::text, $3::text, $4::text, $5::text, 'planning',
                (SELECT coalesce(max(s.id), 0) FROM apus.subscription s), $6::bigint,
                $7::bigint + \(FanOutRules.planningMilliseconds), $7::bigint, $7::bigint
            WHERE NOT EXISTS (SELECT 1 FROM apus.fan_out f WHERE f.event = $1::bytea)
            ON CONFLICT (event) DO NOTHING
            """,
            [
                .bytes(event.digest.bytes), .text(event.source), .text(event.identifier), .text(event.type),
                .text(event.app), .integer(planner), .integer(nowMilliseconds),
            ])
    }

    /// Lets a planner go on with a fan-out that it has already, or that no other has any more.
    static func takeOver(_ event: EventDigest, _ planner: Int64, _ nowMilliseconds: Int64) -> Call {
        Call(
            """
            UPDATE apus.fan_out SET planner = $2::bigint,
                planner_until = $3::bigint + \(FanOutRules.planningMilliseconds)
            WHERE event = $1::bytea AND state = 'planning'
                AND (planner = $2::bigint OR planner_until <= $3::bigint)
            """, [.bytes(event.bytes), .integer(planner), .integer(nowMilliseconds)])
    }

    // MARK: Planning

    /// Adds chunks to a fan-out, if its planner and its last chunk are as they should be: both in one statement.
    static func plan(
        _ chunks: [FanOutChunk], of number: Int64, first: Int, end: AudienceCursor?, planner: Int64,
        nowMilliseconds: Int64
    ) -> Call {
        Call(
            """
            WITH f AS (
                UPDATE apus.fan_out SET chunks_planned = chunks_planned + $4::bigint,
                    devices_planned = devices_planned + $5::bigint, position = $6::bigint,
                    position_subscription = $7::bigint, is_whole = $6::bigint IS NULL, changed_at = $8::bigint,
                    planner_until = $8::bigint + \(FanOutRules.planningMilliseconds)
                WHERE id = $1::bigint AND planner = $2::bigint AND chunks_planned + 1 = $3::bigint
                    AND state = 'planning' AND NOT is_whole
                RETURNING id)
            INSERT INTO apus.fan_out_chunk (fan_out, number, after_position, after_subscription, through_position,
                through_subscription, subscriptions, devices)
            SELECT f.id, r.* FROM f CROSS JOIN
                unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bytea[],
                    $15::bigint[]) r
            """,
            [
                .integer(number), .integer(planner), .integer(Int64(first)), .integer(Int64(chunks.count)),
                .integer(Int64(chunks.reduce(0) { $0 + $1.deviceCount })), .integer(end?.position),
                .integer(end?.subscription), .integer(nowMilliseconds), .integers(chunks.map { Int64($0.number) }),
                .optionalIntegers(chunks.map { $0.after?.position }),
                .optionalIntegers(chunks.map { $0.after?.subscription }),
                .optionalIntegers(chunks.map { $0.through?.position }),
                .optionalIntegers(chunks.map { $0.through?.subscription }),
                .byteLists(chunks.map(\.subscriptionBytes)), .integers(chunks.map { Int64($0.deviceCount) }),
            ])
    }

    /// Notes that the broker has confirmed the chunks up to one.
    static func published(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) -> Call {
        Call(
            """
            UPDATE apus.fan_out SET
                chunks_published = greatest(chunks_published, least($3::bigint, chunks_planned)),
                changed_at = $4::bigint,
                planner_until = CASE WHEN planner = $2::bigint
                    THEN $4::bigint + \(FanOutRules.planningMilliseconds) ELSE planner_until END,
                state = CASE WHEN is_whole AND $3::bigint >= chunks_planned THEN 'planned' ELSE state END
            WHERE id = $1::bigint AND state = 'planning'
            """, [.integer(number), .integer(planner), .integer(Int64(chunk)), .integer(nowMilliseconds)])
    }

    // MARK: Ending

    /// Makes others wait who change these fan-outs, in one order so that two transactions do not wait for each other.
    static func lock(_ numbers: [Int64]) -> Call {
        Call(
            "SELECT f.id FROM apus.fan_out f WHERE f.id = ANY ($1::bigint[]) ORDER BY f.id FOR NO KEY UPDATE",
            [.integers(numbers)])
    }

    /// Marks chunks that have not ended, each named once, as ended, and counts them.
    static func end(_ keys: [FanOutChunkKey], isCancelled: Bool, nowMilliseconds: Int64) -> Call {
        let column = isCancelled ? "chunks_cancelled" : "chunks_served"
        return Call(
            """
            WITH ended AS (
                UPDATE apus.fan_out_chunk c SET is_ended = true
                FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) r(fan_out, event, number)
                JOIN apus.fan_out f ON f.id = r.fan_out AND f.event = r.event
                WHERE c.fan_out = r.fan_out AND c.number = r.number AND NOT c.is_ended
                RETURNING c.fan_out)
            UPDATE apus.fan_out f SET \(column) = \(column) + x.count, changed_at = $4::bigint
            FROM (SELECT e.fan_out, count(*) AS count FROM ended e GROUP BY e.fan_out) x WHERE f.id = x.fan_out
            """, parameters(keys) + [.integer(nowMilliseconds)])
    }

    /// Marks planned fan-outs as done if each of their chunks has ended, and forgets the chunks.
    static func finish(_ numbers: [Int64]) -> [Call] {
        [
            Call(
                """
                UPDATE apus.fan_out SET state = 'done' WHERE id = ANY ($1::bigint[]) AND state = 'planned'
                    AND chunks_served + chunks_cancelled >= chunks_planned
                """, [.integers(numbers)]),
            Call(
                """
                DELETE FROM apus.fan_out_chunk c USING apus.fan_out f
                WHERE f.id = ANY ($1::bigint[]) AND f.state = 'done' AND c.fan_out = f.id
                """, [.integers(numbers)]),
        ]
    }

    /// Cancels a fan-out, unless it is done.
    static func cancel(_ number: Int64, nowMilliseconds: Int64) -> Call {
        Call(
            """
            UPDATE apus.fan_out SET state = 'cancelled', changed_at = $2::bigint
            WHERE id = $1::bigint AND state IN ('planning', 'planned')
            """, [.integer(number), .integer(nowMilliseconds)])
    }
}
