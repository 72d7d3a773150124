import Glibc
import PushCore

/// A registry of fan-outs that begins to write only when a test lets it, as one on a disk that is very slow.
final class HeldFanOutRegistry: FanOutRegistry {
    private let registry: any FanOutRegistry
    private let gate: Int32

    /// Puts a gate before a registry.
    ///
    /// - Parameters:
    ///   - registry: does what is asked.
    ///   - gate: the end of a pipe to read from; each call that plans waits for a byte of it.
    init(_ registry: any FanOutRegistry, gate: Int32) {
        self.registry = registry
        self.gate = gate
    }

    func planChunks(
        _ chunks: [FanOutChunk], of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        var byte: UInt8 = 0
        _ = read(gate, &byte, 1)
        return try registry.planChunks(chunks, of: number, planner: planner, nowMilliseconds: nowMilliseconds)
    }

    func beginFanOut(_ event: FanOutEvent, planner: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut {
        try registry.beginFanOut(event, planner: planner, nowMilliseconds: nowMilliseconds)
    }

    func chunks(of number: Int64, after chunk: Int, limit: Int) throws(RegistryError) -> [FanOutChunk] {
        try registry.chunks(of: number, after: chunk, limit: limit)
    }

    func chunksPublished(
        through chunk: Int, of number: Int64, planner: Int64, nowMilliseconds: Int64
    ) throws(RegistryError) -> FanOut {
        try registry.chunksPublished(through: chunk, of: number, planner: planner, nowMilliseconds: nowMilliseconds)
    }

    func chunkStates(_ keys: [FanOutChunkKey]) throws(RegistryError) -> [FanOutChunkState] {
        try registry.chunkStates(keys)
    }

    func chunksEnded(_ endings: [FanOutChunkEnding], nowMilliseconds: Int64) throws(RegistryError) {
        try registry.chunksEnded(endings, nowMilliseconds: nowMilliseconds)
    }

    func fanOuts(before number: Int64?, limit: Int) throws(RegistryError) -> [FanOut] {
        try registry.fanOuts(before: number, limit: limit)
    }

    func fanOuts(of events: [EventDigest]) throws(RegistryError) -> [FanOut] { try registry.fanOuts(of: events) }

    func fanOut(_ number: Int64) throws(RegistryError) -> FanOut? { try registry.fanOut(number) }

    func cancelFanOut(_ number: Int64, nowMilliseconds: Int64) throws(RegistryError) -> FanOut? {
        try registry.cancelFanOut(number, nowMilliseconds: nowMilliseconds)
    }
}
