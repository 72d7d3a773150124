public import ChangeEvents
public import RegistryCore

extension InMemoryRegistry: FanOutRegistry {
    private func index(of number: Int64) throws(RegistryError) -> Int {
        guard let index = fanOuts.list.firstIndex(where: { $0.number == number }) else {
            throw RegistryError(.notFound, "There is no fan-out \(number).")
        }
        return index
    }

    /// Finds the fan-out of an event, or begins one.
    public func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try check()
        if let failureOfFanOuts { throw failureOfFanOuts }
        forgetOld(nowMilliseconds)
        if let index = fanOuts.list.firstIndex(where: { $0.event.digest == event.digest }) {
            let known = fanOuts.list[index]
            guard known.state == .planning else { return known }
            let isFree = fanOuts.plannedUntil[known.number, default: 0] <= nowMilliseconds
            if known.planner == planner || isFree {
                fanOuts.list[index].planner = planner
                renew(known.number, nowMilliseconds)
            }
            return fanOuts.list[index]
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
        let index = try index(of: number)
        let known = fanOuts.list[index]
        guard let first = chunks.first, let last = chunks.last, known.planner == planner, known.state == .planning,
            !known.isWhole, first.number == known.chunksPlanned + 1
        else { return known }
        fanOuts.chunks[number, default: []] += chunks.map { InMemoryFanOuts.Chunk(chunk: $0) }
        fanOuts.list[index].chunksPlanned += chunks.count
        fanOuts.list[index].devicesPlanned += chunks.reduce(0) { $0 + $1.deviceCount }
        fanOuts.list[index].position = last.through
        fanOuts.list[index].isWhole = last.through == nil
        fanOuts.list[index].changedAtMilliseconds = nowMilliseconds
        renew(number, nowMilliseconds)
        return fanOuts.list[index]
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
        let index = try index(of: number)
        guard fanOuts.list[index].state == .planning else { return fanOuts.list[index] }
        let planned = fanOuts.list[index].chunksPlanned
        fanOuts.list[index].chunksPublished = max(fanOuts.list[index].chunksPublished, min(chunk, planned))
        fanOuts.list[index].changedAtMilliseconds = nowMilliseconds
        if fanOuts.list[index].planner == planner { renew(number, nowMilliseconds) }
        if fanOuts.list[index].isWhole, chunk >= planned { fanOuts.list[index].state = .planned }
        finishIfEnded(index)
        return fanOuts.list[index]
    }

    private func finishIfEnded(_ index: Int) {
        let known = fanOuts.list[index]
        guard known.state == .planned, known.chunksServed + known.chunksCancelled >= known.chunksPlanned else { return }
        fanOuts.list[index].state = .done
        fanOuts.chunks[known.number] = nil
    }

    /// The stored state of chunks.
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
            let fanOutIndex = fanOuts.list.firstIndex { $0.number == key.fanOut && $0.event.digest == key.event }
            let chunkIndex = fanOuts.chunks[key.fanOut]?.firstIndex { $0.chunk.number == key.chunk && !$0.isEnded }
            guard let fanOutIndex, let chunkIndex else { continue }
            fanOuts.chunks[key.fanOut]?[chunkIndex].isEnded = true
            if ending.isCancelled {
                fanOuts.list[fanOutIndex].chunksCancelled += 1
            } else {
                fanOuts.list[fanOutIndex].chunksServed += 1
            }
            fanOuts.list[fanOutIndex].changedAtMilliseconds = nowMilliseconds
            finishIfEnded(fanOutIndex)
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
        guard let index = fanOuts.list.firstIndex(where: { $0.number == number }) else { return nil }
        if [.planning, .planned].contains(fanOuts.list[index].state) {
            fanOuts.list[index].state = .cancelled
            fanOuts.list[index].changedAtMilliseconds = nowMilliseconds
        }
        return fanOuts.list[index]
    }
}

/// The large fan-outs of an `InMemoryRegistry`.
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
