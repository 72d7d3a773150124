import PushCore

/// What every implementation of `FanOutRegistry` must do.
enum FanOutConformance {
    /// All checks.
    static let all: [RegistryConformance] = planningChecks + servingChecks + membershipChecks

    // MARK: Values and steps that the checks share

    static let now: Int64 = 1_700_000_000_000

    static func event(_ identifier: String, app: String? = "chat") -> FanOutEvent {
        FanOutEvent(
            digest: EventDigest(source: "test", identifier: identifier), source: "test", identifier: identifier,
            type: "push.requested", app: app)
    }

    /// Chunks that follow each other, each ten positions long; the last goes to the end if `isLast`.
    static func chunks(_ numbers: ClosedRange<Int>, isLast: Bool) -> [FanOutChunk] {
        numbers.map { number in
            FanOutChunk(
                number: number,
                after: number == 1 ? nil : AudienceCursor(position: Int64(number - 1) * 10, subscription: 3),
                through: isLast && number == numbers.upperBound
                    ? nil : AudienceCursor(position: Int64(number) * 10, subscription: 3),
                subscriptions: number == 2 ? [] : [3, Int64(number) << 40], deviceCount: 10)
        }
    }

    static func key(_ fanOut: FanOut, _ chunk: Int) -> FanOutChunkKey {
        FanOutChunkKey(fanOut: fanOut.number, event: fanOut.event.digest, chunk: chunk)
    }

    /// A fan-out whose chunks have all been planned and published.
    static func planned(_ identifier: String, chunks count: Int, in registry: any RegistryConformance.Store) throws
        -> FanOut
    {
        let fanOut = try registry.beginFanOut(event(identifier), planner: 1, nowMilliseconds: now)
        _ = try registry.planChunks(
            chunks(1...count, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now)
        return try registry.chunksPublished(through: count, of: fanOut.number, planner: 1, nowMilliseconds: now)
    }
}
