public import ChangeEvents
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: FanOutRegistry {
    /// Finds the fan-out of an event, or begins one.
    public func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try writing(durable: true) { () throws(RegistryError) in
            try forgetOldFanOuts(nowMilliseconds)
            if let known = try fanOut(of: event.digest) {
                guard known.state == .planning else { return known }
                try takeOver(known.number, planner, nowMilliseconds)
            } else {
                try insertFanOut(event, planner, nowMilliseconds)
            }
            return try require(fanOut(of: event.digest))
        }
    }

    /// Writes down the next chunks.
    public func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        guard let first = chunks.first, let last = chunks.last else { return try require(fanOut(number)) }
        return try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                UPDATE fan_out SET chunks_planned = chunks_planned + ?4, devices_planned = devices_planned + ?5,
                    position = ?6, position_subscription = ?7, is_whole = ?6 IS NULL, changed_at = ?8,
                    planner_until = ?8 + \(FanOutRules.planningMilliseconds)
                WHERE id = ?1 AND planner = ?2 AND chunks_planned + 1 = ?3 AND state = 'planning' AND NOT is_whole
                """)
            statement.bind(1, number)
            statement.bind(2, planner)
            statement.bind(3, Int64(first.number))
            statement.bind(4, Int64(chunks.count))
            statement.bind(5, Int64(chunks.reduce(0) { $0 + $1.deviceCount }))
            statement.bind(6, last.through?.position)
            statement.bind(7, last.through?.subscription)
            statement.bind(8, nowMilliseconds)
            if try statement.run() > 0 {
                for chunk in chunks { try insert(chunk, of: number) }
            }
            return try require(fanOut(number))
        }
    }

    /// Chunks of a fan-out, in order, after one.
    public func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        let statement = try statements.statement(
            """
            SELECT \(FanOutChunk.readColumns) FROM fan_out_chunk c
            WHERE c.fan_out = ? AND c.number > ? ORDER BY c.number LIMIT ?
            """)
        statement.bind(1, number)
        statement.bind(2, Int64(chunk))
        statement.bind(3, Int64(max(limit, 0)))
        var chunks: [FanOutChunk] = []
        try statement.forEachRow { row in chunks.append(FanOutChunk(row)) }
        return chunks
    }

    /// Notes that the broker has confirmed the chunks up to one.
    public func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try writing(durable: false) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                UPDATE fan_out SET chunks_published = max(chunks_published, min(?3, chunks_planned)), changed_at = ?4,
                    planner_until = CASE WHEN planner = ?2 THEN ?4 + \(FanOutRules.planningMilliseconds)
                        ELSE planner_until END,
                    state = CASE WHEN is_whole AND ?3 >= chunks_planned THEN 'planned' ELSE state END
                WHERE id = ?1 AND state = 'planning'
                """)
            statement.bind(1, number)
            statement.bind(2, planner)
            statement.bind(3, Int64(chunk))
            statement.bind(4, nowMilliseconds)
            try statement.run()
            try finishIfEnded(number)
            return try require(fanOut(number))
        }
    }

    /// The stored state of chunks.
    public func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        try reading { () throws(RegistryError) in
            var states: [FanOutChunkState] = []
            for key in keys { states.append(try state(of: key)) }
            return states
        }
    }

    private func state(of key: FanOutChunkKey) throws(RegistryError) -> FanOutChunkState {
        let statement = try statements.statement(
            """
            SELECT f.state = 'cancelled', f.state = 'done' OR coalesce(c.is_ended, 0)
            FROM fan_out f LEFT JOIN fan_out_chunk c ON c.fan_out = f.id AND c.number = ?3
            WHERE f.id = ?1 AND f.event = ?2
            """)
        statement.bind(1, key.fanOut)
        statement.bind(2, key.event.bytes)
        statement.bind(3, Int64(key.chunk))
        defer { statement.reset() }
        guard try statement.step() else { return .waiting }
        if statement.integer(1) != 0 { return .served }
        return statement.integer(0) != 0 ? .cancelled : .waiting
    }

    /// Notes that chunks have ended.
    public func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        guard !endings.isEmpty else { return }
        try writing(durable: false) { () throws(RegistryError) in
            for ending in endings { try end(ending, nowMilliseconds) }
            for number in Set(endings.map(\.key.fanOut)) { try finishIfEnded(number) }
        }
    }

    private func end(_ ending: FanOutChunkEnding, _ nowMilliseconds: Int64) throws(RegistryError) {
        let chunk = try statements.statement(
            """
            UPDATE fan_out_chunk SET is_ended = 1 WHERE fan_out = ?1 AND number = ?3 AND NOT is_ended
                AND EXISTS (SELECT 1 FROM fan_out f WHERE f.id = ?1 AND f.event = ?2)
            """)
        chunk.bind(1, ending.key.fanOut)
        chunk.bind(2, ending.key.event.bytes)
        chunk.bind(3, Int64(ending.key.chunk))
        guard try chunk.run() > 0 else { return }
        let count = try statements.statement(
            """
            UPDATE fan_out SET chunks_served = chunks_served + (NOT ?2), chunks_cancelled = chunks_cancelled + ?2,
                changed_at = ?3 WHERE id = ?1
            """)
        count.bind(1, ending.key.fanOut)
        count.bind(2, ending.isCancelled ? 1 : 0)
        count.bind(3, nowMilliseconds)
        try count.run()
    }

    /// Fan-outs, the newest first.
    public func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] {
        let statement = try statements.statement(
            "SELECT \(FanOut.readColumns) FROM fan_out f WHERE f.id < ? ORDER BY f.id DESC LIMIT ?")
        statement.bind(1, number ?? .max)
        statement.bind(2, Int64(max(limit, 0)))
        var list: [FanOut] = []
        try statement.forEachRow { row throws(RegistryError) in list.append(try FanOut(row)) }
        return list
    }

    /// The fan-outs of events.
    public func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] {
        var list: [FanOut] = []
        for event in events {
            if let found = try fanOut(of: event) { list.append(found) }
        }
        return list
    }

    /// One fan-out, or nil.
    public func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? {
        let statement = try statements.statement("SELECT \(FanOut.readColumns) FROM fan_out f WHERE f.id = ?")
        statement.bind(1, number)
        return try firstFanOut(statement)
    }

    /// Cancels a fan-out.
    public func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                UPDATE fan_out SET state = 'cancelled', changed_at = ?2
                WHERE id = ?1 AND state IN ('planning', 'planned')
                """)
            statement.bind(1, number)
            statement.bind(2, nowMilliseconds)
            try statement.run()
            return try fanOut(number)
        }
    }
}

/// The rows of fan-outs and of their chunks.
extension SQLiteRegistry {
    /// The fan-out of an event, or nil.
    func fanOut(of event: EventDigest) throws(RegistryError) -> FanOut? {
        let statement = try statements.statement("SELECT \(FanOut.readColumns) FROM fan_out f WHERE f.event = ?")
        statement.bind(1, event.bytes)
        return try firstFanOut(statement)
    }

    /// The first row of a statement; the statement is reset.
    func firstFanOut(_ statement: Statement) throws(RegistryError) -> FanOut? {
        defer { statement.reset() }
        return try statement.step() ? try FanOut(statement) : nil
    }

    /// A fan-out that has to be there.
    func require(_ found: FanOut?) throws(RegistryError) -> FanOut {
        guard let found else { throw RegistryError.noFanOut }
        return found
    }

    /// Adds a fan-out without chunks.
    func insertFanOut(_ event: FanOutEvent, _ planner: Int64, _ nowMilliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            INSERT INTO fan_out (event, event_source, event_id, event_type, app, state, newest_subscription, planner,
                planner_until, begun_at, changed_at)
            VALUES (?1, ?2, ?3, ?4, ?5, 'planning', (SELECT coalesce(max(id), 0) FROM subscription), ?6,
                ?7 + \(FanOutRules.planningMilliseconds), ?7, ?7)
            """)
        statement.bind(1, event.digest.bytes)
        statement.bind(2, event.source)
        statement.bind(3, event.identifier)
        statement.bind(4, event.type)
        statement.bind(5, event.app)
        statement.bind(6, planner)
        statement.bind(7, nowMilliseconds)
        try statement.run()
    }

    /// Lets a planner go on with a fan-out that it has already, or that no other has any more.
    func takeOver(_ number: Int64, _ planner: Int64, _ nowMilliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            UPDATE fan_out SET planner = ?2, planner_until = ?3 + \(FanOutRules.planningMilliseconds)
            WHERE id = ?1 AND (planner = ?2 OR planner_until <= ?3)
            """)
        statement.bind(1, number)
        statement.bind(2, planner)
        statement.bind(3, nowMilliseconds)
        try statement.run()
    }

    /// Removes some of the fan-outs that ended long ago.
    func forgetOldFanOuts(_ nowMilliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            DELETE FROM fan_out WHERE id IN (
                SELECT f.id FROM fan_out f WHERE f.changed_at < ?1 AND (f.state = 'done' OR f.changed_at < ?2)
                ORDER BY f.changed_at LIMIT \(FanOutRules.forgottenAtOnceMaximum))
            """)
        statement.bind(1, nowMilliseconds - FanOutRules.doneKeptMilliseconds)
        statement.bind(2, nowMilliseconds - FanOutRules.otherKeptMilliseconds)
        try statement.run()
    }

    /// Adds a chunk.
    func insert(_ chunk: FanOutChunk, of number: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            INSERT INTO fan_out_chunk (fan_out, number, after_position, after_subscription, through_position,
                through_subscription, subscriptions, devices)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, number)
        statement.bind(2, Int64(chunk.number))
        statement.bind(3, chunk.after?.position)
        statement.bind(4, chunk.after?.subscription)
        statement.bind(5, chunk.through?.position)
        statement.bind(6, chunk.through?.subscription)
        statement.bind(7, chunk.subscriptionBytes)
        statement.bind(8, Int64(chunk.deviceCount))
        try statement.run()
    }

    /// Marks a planned fan-out as done if each of its chunks has ended, and forgets the chunks.
    func finishIfEnded(_ number: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            UPDATE fan_out SET state = 'done'
            WHERE id = ? AND state = 'planned' AND chunks_served + chunks_cancelled >= chunks_planned
            """)
        statement.bind(1, number)
        guard try statement.run() > 0 else { return }
        try run("DELETE FROM fan_out_chunk WHERE fan_out = ?", number)
    }
}
