/// A request to the registry of large fan-outs: what is planned, what is published, and which chunks have ended.
public enum FanOutRequest: Hashable, Sendable {
    /// The answer to a `FanOutRequest`.
    public enum Answer: Hashable, Sendable {
        /// The fan-out as it is now: answers `begin`, `plan` and `published`.
        case fanOut(FanOut)
        /// Chunks that may not have been published: answers `read`.
        case chunks([FanOutChunk])
        /// The registry keeps it: answers `ended`.
        case done
    }

    /// Find or begin the fan-out of an event.
    case begin(FanOutEvent, planner: Int64)
    /// Keep the next chunks of a fan-out, given by its number.
    case plan([FanOutChunk], of: Int64, planner: Int64)
    /// Read chunks of a fan-out behind the chunk of a number.
    case read(of: Int64, after: Int, limit: Int)
    /// Keep that the broker has confirmed the chunks of a fan-out up to the chunk of a number.
    case published(through: Int, of: Int64, planner: Int64)
    /// Keep that chunks have ended.
    case ended([FanOutChunkEnding])

    /// Performs the request.
    ///
    /// - Parameters:
    ///   - registry: the registry, on the thread that owns it.
    ///   - now: the wall clock, in milliseconds since 1970.
    /// - Returns: the answer of the kind that the case names.
    /// - Throws: `RegistryError` as the registry does.
    public func perform(on registry: any FanOutRegistry, nowMilliseconds now: Int64) throws(RegistryError) -> Answer {
        switch self {
        case .begin(let event, let planner):
            return .fanOut(try registry.beginFanOut(event, planner: planner, nowMilliseconds: now))
        case .plan(let chunks, let number, let planner):
            return .fanOut(try registry.planChunks(chunks, of: number, planner: planner, nowMilliseconds: now))
        case .read(let number, let after, let limit):
            return .chunks(try registry.chunks(of: number, after: after, limit: limit))
        case .published(let through, let number, let planner):
            return .fanOut(
                try registry.chunksPublished(through: through, of: number, planner: planner, nowMilliseconds: now))
        case .ended(let endings):
            try registry.chunksEnded(endings, nowMilliseconds: now)
            return .done
        }
    }
}
