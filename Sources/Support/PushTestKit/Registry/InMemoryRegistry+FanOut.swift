public import PushCore

extension InMemoryRegistry: FanOutRegistry {
    private func place(_ number: Int64) throws(RegistryError) -> Int {
        guard let place = fanOuts.list.firstIndex(where: { $0.number == number }) else {
            throw RegistryError(.notFound, "There is no fan-out \(number).")
        }
        return place
    }

    /// Finds the fan-out of an event, or begins one.
    public func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try check()
        if let failureOfFanOuts { throw failureOfFanOuts }
        forgetOld(nowMilliseconds)
        if let place = fanOuts.list.firstIndex(where: { $0.event.digest == event.digest }) {
            let known = fanOuts.list[place]
            guard known.state == .planning else { return known }
            let isFree = fanOuts.plannedUntil[known.number, default: 0] <= nowMilliseconds
            if known.planner == planner || isFree {
                fanOuts.list[place].planner = planner
                renew(known.number, nowMilliseconds)
            }
            return fanOuts.list[place]
        }
        fanOuts.lastNumber += 1
        let number = fanOuts.lastNumber
        fanOuts.befores[number] = copy()
        fanOuts.list.append(
            FanOut(
                number: number, event: event, newestSubscription: records.lastRow, planner: planner,
                nowMilliseconds: nowMilliseconds))
        renew(number, nowMilliseconds)
        return fanOuts.list[fanOuts.list.count - 1]
    }

    private func renew(_ number: Int64, _ nowMilliseconds: Int64) {
        fanOuts.plannedUntil[number] = nowMilliseconds + FanOutRules.planningMilliseconds
    }

    private func copy() -> InMemoryRegistry {
        let copy = InMemoryRegistry()
        copy.entries = entries
        copy.knownDatasets = knownDatasets
        copy.records = records
        return copy
    }

    private func forgetOld(_ nowMilliseconds: Int64) {
        let old = fanOuts.list.filter { fanOut in
            let age = nowMilliseconds - fanOut.changedAtMilliseconds
            return age > FanOutRules.otherKeptMilliseconds
                || fanOut.state == .done && age > FanOutRules.doneKeptMilliseconds
        }
        for fanOut in old.prefix(FanOutRules.forgottenAtOnceMaximum) {
            fanOuts.list.removeAll { $0.number == fanOut.number }
            fanOuts.chunks[fanOut.number] = nil
        }
    }

    /// Writes down the next chunks.
    public func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try check()
        let place = try place(number)
        let known = fanOuts.list[place]
        guard let first = chunks.first, let last = chunks.last, known.planner == planner, known.state == .planning,
            !known.isWhole, first.number == known.chunksPlanned + 1
        else { return known }
        fanOuts.chunks[number, default: []] += chunks.map { InMemoryFanOuts.Chunk(chunk: $0) }
        fanOuts.list[place].chunksPlanned += chunks.count
        fanOuts.list[place].devicesPlanned += chunks.reduce(0) { $0 + $1.deviceCount }
        fanOuts.list[place].position = last.through
        fanOuts.list[place].isWhole = last.through == nil
        fanOuts.list[place].changedAtMilliseconds = nowMilliseconds
        renew(number, nowMilliseconds)
        return fanOuts.list[place]
    }

    /// Chunks of a fan-out, in order, after one.
    public func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        try check()
        return Array((fanOuts.chunks[number] ?? []).map(\.chunk).filter { $0.number > chunk }.prefix(max(limit, 0)))
    }

    /// Notes that the broker has confirmed the chunks up to one.
    public func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try check()
        let place = try place(number)
        guard fanOuts.list[place].state == .planning else { return fanOuts.list[place] }
        let planned = fanOuts.list[place].chunksPlanned
        fanOuts.list[place].chunksPublished = max(fanOuts.list[place].chunksPublished, min(chunk, planned))
        fanOuts.list[place].changedAtMilliseconds = nowMilliseconds
        if fanOuts.list[place].planner == planner { renew(number, nowMilliseconds) }
        if fanOuts.list[place].isWhole, chunk >= planned { fanOuts.list[place].state = .planned }
        finishIfEnded(place)
        return fanOuts.list[place]
    }

    private func finishIfEnded(_ place: Int) {
        let known = fanOuts.list[place]
        guard known.state == .planned, known.chunksServed + known.chunksCancelled >= known.chunksPlanned else { return }
        fanOuts.list[place].state = .done
        fanOuts.chunks[known.number] = nil
    }

    /// What is known of chunks.
    public func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        try check()
        return keys.map { key in
            let known = fanOuts.list.first { $0.number == key.fanOut && $0.event.digest == key.event }
            guard let known else { return .waiting }
            let chunk = fanOuts.chunks[key.fanOut]?.first { $0.chunk.number == key.chunk }
            if known.state == .done || chunk?.isEnded == true { return .served }
            return known.state == .cancelled ? .cancelled : .waiting
        }
    }

    /// Notes that chunks have ended.
    public func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        try check()
        for ending in endings {
            let key = ending.key
            let place = fanOuts.list.firstIndex { $0.number == key.fanOut && $0.event.digest == key.event }
            let index = fanOuts.chunks[key.fanOut]?.firstIndex { $0.chunk.number == key.chunk && !$0.isEnded }
            guard let place, let index else { continue }
            fanOuts.chunks[key.fanOut]?[index].isEnded = true
            if ending.isCancelled {
                fanOuts.list[place].chunksCancelled += 1
            } else {
                fanOuts.list[place].chunksServed += 1
            }
            fanOuts.list[place].changedAtMilliseconds = nowMilliseconds
            finishIfEnded(place)
        }
    }

    /// Fan-outs, the newest first.
    public func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] {
        try check()
        return Array(fanOuts.list.reversed().filter { $0.number < number ?? .max }.prefix(max(limit, 0)))
    }

    /// The fan-outs of events.
    public func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] {
        try check()
        return events.compactMap { event in fanOuts.list.first { $0.event.digest == event } }
    }

    /// One fan-out, or nil.
    public func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? {
        try check()
        return fanOuts.list.first { $0.number == number }
    }

    /// Cancels a fan-out.
    public func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? {
        try check()
        guard let place = fanOuts.list.firstIndex(where: { $0.number == number }) else { return nil }
        if [.planning, .planned].contains(fanOuts.list[place].state) {
            fanOuts.list[place].state = .cancelled
            fanOuts.list[place].changedAtMilliseconds = nowMilliseconds
        }
        return fanOuts.list[place]
    }
}

/// What an `InMemoryRegistry` knows of large fan-outs.
struct InMemoryFanOuts {
    struct Chunk {
        var chunk: FanOutChunk
        var isEnded = false
    }

    var list: [FanOut] = []
    var lastNumber: Int64 = 0
    var plannedUntil: [Int64: Int64] = [:]
    var chunks: [Int64: [Chunk]] = [:]
    /// The whole registry as it was when each fan-out began.
    var befores: [Int64: InMemoryRegistry] = [:]
}
