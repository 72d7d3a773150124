import ChangeEvents
import RegistryCore

extension SimulatedRegistry: FanOutRegistry {
    func beginFanOut(
        _ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try checkWritable()
        if let index = fanOuts.indexOfEvent[event.digest] {
            let known = fanOuts.list[index]
            guard known.fanOut.state == .planning else { return known.fanOut }
            if known.fanOut.planner == planner || known.plannedUntilMilliseconds <= nowMilliseconds {
                fanOuts.list[index].fanOut.planner = planner
                renew(index, nowMilliseconds)
            }
            return fanOuts.list[index].fanOut
        }
        let fanOut = FanOut(
            number: fanOuts.newest + 1, event: event, newestSubscription: Int64(world.subscriptions.count),
            planner: planner, nowMilliseconds: nowMilliseconds)
        fanOuts.indexOfEvent[event.digest] = fanOuts.list.count
        fanOuts.list.append(SimulatedFanOuts.Kept(fanOut: fanOut, plannedUntilMilliseconds: 0))
        renew(fanOuts.list.count - 1, nowMilliseconds)
        return fanOut
    }

    private func renew(_ index: Int, _ now: Int64) {
        fanOuts.list[index].plannedUntilMilliseconds = now + FanOutRules.planningMilliseconds
    }

    func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] {
        try check()
        return events.compactMap { event in fanOuts.indexOfEvent[event].map { fanOuts.list[$0].fanOut } }
    }

    func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try checkWritable()
        let index = try fanOuts.index(of: number)
        let known = fanOuts.list[index].fanOut
        guard let first = chunks.first, let last = chunks.last, known.planner == planner, known.state == .planning,
            !known.isWhole, first.number == known.chunksPlanned + 1
        else { return known }
        fanOuts.list[index].chunks += chunks
        fanOuts.list[index].hasEnded += chunks.map { _ in false }
        fanOuts.list[index].fanOut.chunksPlanned += chunks.count
        fanOuts.list[index].fanOut.devicesPlanned += chunks.reduce(0) { $0 + $1.deviceCount }
        fanOuts.list[index].fanOut.position = last.through
        fanOuts.list[index].fanOut.isWhole = last.through == nil
        renew(index, nowMilliseconds)
        return fanOuts.list[index].fanOut
    }

    func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        try check()
        return Array(fanOuts.list[try fanOuts.index(of: number)].chunks.dropFirst(max(chunk, 0)).prefix(max(limit, 0)))
    }

    func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try checkWritable()
        let index = try fanOuts.index(of: number)
        let known = fanOuts.list[index].fanOut
        guard known.state == .planning else { return known }
        fanOuts.list[index].fanOut.chunksPublished = max(known.chunksPublished, min(chunk, known.chunksPlanned))
        if known.planner == planner { renew(index, nowMilliseconds) }
        if known.isWhole, chunk >= known.chunksPlanned { fanOuts.list[index].fanOut.state = .planned }
        finishIfEnded(index)
        return fanOuts.list[index].fanOut
    }

    private func finishIfEnded(_ index: Int) {
        let known = fanOuts.list[index].fanOut
        guard known.state == .planned, known.chunksServed + known.chunksCancelled >= known.chunksPlanned else { return }
        fanOuts.list[index].fanOut.state = .done
    }

    func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        try check()
        return keys.map { key in
            guard let index = fanOuts.indexOfEvent[key.event], fanOuts.list[index].fanOut.number == key.fanOut else {
                return .waiting
            }
            let known = fanOuts.list[index]
            let isEnded = known.hasEnded.indices.contains(key.chunk - 1) && known.hasEnded[key.chunk - 1]
            if known.fanOut.state == .done || isEnded { return .served }
            return known.fanOut.state == .cancelled ? .cancelled : .waiting
        }
    }

    func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        try checkWritable()
        for ending in endings {
            guard let index = fanOuts.indexOfEvent[ending.key.event] else { continue }
            let chunk = ending.key.chunk - 1
            guard fanOuts.list[index].hasEnded.indices.contains(chunk), !fanOuts.list[index].hasEnded[chunk] else {
                continue
            }
            fanOuts.list[index].hasEnded[chunk] = true
            if ending.isCancelled {
                fanOuts.list[index].fanOut.chunksCancelled += 1
            } else {
                fanOuts.list[index].fanOut.chunksServed += 1
            }
            finishIfEnded(index)
        }
    }

    func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] { throw notSimulated }

    func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? {
        try check()
        return fanOuts.list[try fanOuts.index(of: number)].fanOut
    }

    func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? { throw notSimulated }
}

/// The large fan-outs of the simulated registry.
struct SimulatedFanOuts {
    struct Kept {
        var fanOut: FanOut
        var plannedUntilMilliseconds: Int64
        var chunks: [FanOutChunk] = []
        var hasEnded: [Bool] = []
    }

    /// By number, which begins at 1.
    var list: [Kept] = []
    var indexOfEvent: [EventDigest: Int] = [:]

    var newest: Int64 { Int64(list.count) }

    func index(of number: Int64) throws(RegistryError) -> Int {
        guard number >= 1, number <= newest else {
            throw RegistryError(.notFound, "There is no fan-out of this number.")
        }
        return Int(number) - 1
    }
}
