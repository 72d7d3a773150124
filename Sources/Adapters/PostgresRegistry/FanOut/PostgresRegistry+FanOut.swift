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
        let rows = try ask([FanOutCalls.chunks(of: number, after: chunk, limit: limit)])[0]
        return (0..<rows.count).map { row in
            FanOutChunk(
                number: FanOutRules.count(rows.integer(row, 0)), after: Self.cursor(rows, row, firstColumn: 1),
                through: Self.cursor(rows, row, firstColumn: 3),
                subscriptions: FanOutChunk.subscriptions(fromBytes: rows.bytes(row, 5)),
                deviceCount: FanOutRules.count(rows.integer(row, 6)))
        }
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
        let rows = try ask([FanOutCalls.chunkStates(keys)])[0]
        for row in 0..<rows.count {
            let isServed = rows.integer(row, 2) != 0
            let isCancelled = rows.integer(row, 1) != 0
            states[Int(rows.integer(row, 0)) - 1] = isServed ? .served : isCancelled ? .cancelled : .waiting
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
        guard let found = try decodeFanOuts(rows).first else {
            throw RegistryError(
                .notFound, "There is no such fan-out any more. 'apus fanout list' shows those there are.")
        }
        return found
    }

    private static func cursor(_ rows: Rows, _ row: Int, firstColumn: Int32) -> AudienceCursor? {
        rows.optionalInteger(row, firstColumn).map {
            AudienceCursor(position: $0, subscription: rows.integer(row, firstColumn + 1))
        }
    }

    private func decodeFanOuts(_ rows: Rows) throws(RegistryError) -> [FanOut] {
        try (0..<rows.count).map { (row) throws(RegistryError) in
            guard let state = FanOut.State(rawValue: rows.text(row, 5)) else {
                throw RegistryError.corruptRow(place, "a fan-out has a state that is none")
            }
            let source = rows.text(row, 1)
            let identifier = rows.text(row, 2)
            let event = FanOutEvent(
                digest: EventDigest(source: source, identifier: identifier), source: source, identifier: identifier,
                type: rows.text(row, 3), app: rows.optionalText(row, 4))
            var fanOut = FanOut(
                number: rows.integer(row, 0), event: event, newestSubscription: rows.integer(row, 6),
                planner: rows.integer(row, 15), nowMilliseconds: rows.integer(row, 16))
            fanOut.state = state
            fanOut.position = Self.cursor(rows, row, firstColumn: 7)
            fanOut.isWhole = rows.integer(row, 9) != 0
            fanOut.chunksPlanned = FanOutRules.count(rows.integer(row, 10))
            fanOut.chunksPublished = FanOutRules.count(rows.integer(row, 11))
            fanOut.chunksServed = FanOutRules.count(rows.integer(row, 12))
            fanOut.chunksCancelled = FanOutRules.count(rows.integer(row, 13))
            fanOut.devicesPlanned = FanOutRules.count(rows.integer(row, 14))
            fanOut.changedAtMilliseconds = rows.integer(row, 17)
            return fanOut
        }
    }
}
