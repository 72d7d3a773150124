import PushCore

/// Something that is noted of large fan-outs, or asked while one is planned.
enum FanOutCall: Sendable {
    /// What the registry answered.
    enum Answer: Sendable {
        /// The fan-out as it is now.
        case fanOut(FanOut)
        /// Chunks that may not have been published.
        case chunks([FanOutChunk])
        /// It is noted.
        case done
    }

    /// Find or begin the fan-out of an event.
    case begin(FanOutEvent, planner: Int64)
    /// Write the next chunks down.
    case plan([FanOutChunk], of: Int64, planner: Int64)
    /// Read chunks after one.
    case read(of: Int64, after: Int, limit: Int)
    /// Note that the broker has confirmed the chunks up to one.
    case published(through: Int, of: Int64, planner: Int64)
    /// Note that chunks have ended.
    case ended([FanOutChunkEnding])

    /// Asks the registry.
    ///
    /// - Parameters:
    ///   - registry: the registry, on its own thread.
    ///   - now: the wall clock, in milliseconds.
    /// - Returns: the answer.
    /// - Throws: `RegistryError` as the registry does.
    func perform(on registry: any FanOutRegistry, nowMilliseconds now: Int64) throws(RegistryError) -> Answer {
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
