import PushCore

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
