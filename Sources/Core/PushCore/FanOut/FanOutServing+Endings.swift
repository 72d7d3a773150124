public import Essentials

/// A delivery of a chunk is settled after the registry keeps that the chunk has ended.
extension FanOutServing {
    /// A tick has come, or the time of `nextDeadline`: what ended since the last tick is recorded together.
    public mutating func tick(at now: MonotonicTime, into actions: inout Actions) {
        if let time = askAgainAt, time <= now { askAgainAt = nil }
        if let time = lookAgainAt, time <= now { lookAgainAt = nil }
        actions.endingsToRecord += endings.begin(at: now)
    }

    /// The registry keeps the endings of the request under way.
    public mutating func endingsRecorded(into actions: inout Actions) {
        for (tag, ending) in endings.finish() {
            actions.settles.append(tag)
            if ending.isCancelled {
                actions.counts.chunksCancelled += 1
            } else {
                actions.counts.chunksServed += 1
            }
        }
    }

    /// The registry does not keep the endings of the request under way.
    ///
    /// A registry that can only be read will not keep them later either. Then the deliveries are settled, and a chunk
    /// that the broker delivers again is served again. After any other error the request is made again.
    public mutating func endingsNotRecorded(
        _ error: RegistryError, at now: MonotonicTime, into actions: inout Actions
    ) {
        actions.counts.registryFailures += 1
        actions.notices.append(.endingsNotRecorded(count: endings.countUnderWay, error))
        if error.code == .readOnly {
            endingsRecorded(into: &actions)
        } else {
            endings.repeatRequest(at: now.advanced(byNanoseconds: repeatDelayNanoseconds))
        }
    }
}
