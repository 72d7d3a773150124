public import ChangeEvents
public import RegistryCore

extension FanOutRegistry where Self: SQLStore {
    /// Finds the fan-out of an event, or begins one.
    public func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try require(
            change(
                durable: true,
                [
                    .forgetFanOuts(nowMilliseconds), .beginFanOut(event, planner, nowMilliseconds),
                    .takeOver(event.digest, planner, nowMilliseconds),
                ], then: .fanOuts(of: [event.digest])))
    }

    /// Writes down the next chunks.
    public func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        guard !chunks.isEmpty else { return try require(fanOut(number)) }
        return try require(
            change(
                durable: true,
                [.lockFanOuts([number])] + SQLStatement.plan(chunks, of: number, planner, nowMilliseconds),
                then: .fanOut(number)))
    }

    /// Chunks of a fan-out, in order, after one.
    public func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        try ask(
            """
            SELECT \(sql: FanOutChunk.readColumns) FROM \(table: "fan_out_chunk") c
            WHERE c.fan_out = \(number) AND c.number > \(Int64(chunk)) ORDER BY c.number LIMIT \(Int64(max(limit, 0)))
            """
        ) { FanOutChunk($0) }
    }

    /// Notes that the broker has confirmed the chunks up to one.
    public func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try require(
            change(
                durable: false,
                [.lockFanOuts([number]), .published(through: chunk, of: number, planner, nowMilliseconds)]
                    + SQLStatement.finish(number), then: .fanOut(number)))
    }

    /// The stored state of chunks.
    public func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        guard !keys.isEmpty else { return [] }
        var states = Array(repeating: FanOutChunkState.waiting, count: keys.count)
        _ = try ask(.chunkStates(keys)) { row in
            let isServed = row.integer(2) != 0
            let isCancelled = row.integer(1) != 0
            states[Int(row.integer(0))] = isServed ? .served : isCancelled ? .cancelled : .waiting
        }
        return states
    }

    /// Notes that chunks have ended.
    public func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        guard !endings.isEmpty else { return }
        let numbers = Set(endings.map(\.key.fanOut)).sorted()
        var statements: [SQLStatement] = [.lockFanOuts(numbers)]
        for isCancelled in [false, true] {
            let keys = Set(endings.filter { $0.isCancelled == isCancelled }.map(\.key))
            if keys.isEmpty { continue }
            statements += SQLStatement.end(Array(keys), isCancelled: isCancelled, nowMilliseconds)
        }
        for number in numbers { statements += SQLStatement.finish(number) }
        try write(durable: false) { (transaction) throws(RegistryError) in _ = try transaction.commit(statements) }
    }

    /// The fan-outs of events.
    public func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] {
        guard !events.isEmpty else { return [] }
        return try ask(.fanOuts(of: events)) { (row) throws(RegistryError) in try FanOut(row) }
    }

    /// Fan-outs, the newest first.
    public func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] {
        try ask(
            """
            SELECT \(sql: FanOut.readColumns) FROM \(table: "fan_out") f WHERE f.id < \(number ?? .max)
            ORDER BY f.id DESC LIMIT \(Int64(max(limit, 0)))
            """
        ) { (row) throws(RegistryError) in try FanOut(row) }
    }

    /// One fan-out, or nil.
    public func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? {
        try ask(.fanOut(number)) { (row) throws(RegistryError) in try FanOut(row) }.first
    }

    /// Cancels a fan-out.
    public func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? {
        try change(
            durable: true,
            [
                """
                UPDATE \(table: "fan_out") SET state = 'cancelled', changed_at = \(nowMilliseconds)
                WHERE id = \(number) AND state IN ('planning', 'planned')
                """
            ], then: .fanOut(number))
    }

    /// Changes a fan-out in one transaction, and reads it afterwards with the last statement.
    private func change(
        durable: Bool, _ changes: [SQLStatement], then selection: SQLStatement
    ) throws(RegistryError) -> FanOut? {
        try write(durable: durable) { (transaction) throws(RegistryError) in
            var found: FanOut?
            try transaction.commit(changes + [selection]) { (index, row) throws(RegistryError) in
                if index == changes.count { found = try FanOut(row) }
            }
            return found
        }
    }

    /// A fan-out that has to be there.
    private func require(_ found: FanOut?) throws(RegistryError) -> FanOut {
        guard let found else { throw RegistryError.noFanOut }
        return found
    }
}
