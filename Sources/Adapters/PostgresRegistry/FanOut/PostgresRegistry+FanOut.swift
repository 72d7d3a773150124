public import PushCore

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

    /// What is known of chunks.
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
