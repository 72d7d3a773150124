import ChangeEvents
import RegistryCore

/// The requirements for every implementation of `FanOutRegistry`.
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

extension FanOutConformance {
    static let planningChecks = [
        RegistryConformance("An event has one fan-out, whichever worker begins it, and numbers grow") { registry in
            let first = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            let again = try registry.beginFanOut(event("1"), planner: 2, nowMilliseconds: now + 1)
            try RegistryConformance.expect(again, is: first, "the fan-out that another began")
            try RegistryConformance.expect(first.event, is: event("1"), "its event")
            try RegistryConformance.expect(first.state, is: .planning, "its state")
            let other = try registry.beginFanOut(event("2", app: nil), planner: 2, nowMilliseconds: now)
            try RegistryConformance.expect(other.number > first.number, is: true, "that numbers grow")
            try RegistryConformance.expect(other.event.app, is: nil, "an app that was not given")
            let found = try registry.fanOuts(of: [event("3").digest, event("2").digest, event("1").digest])
            try RegistryConformance.expect(Set(found), is: [first, other], "the fan-outs of events")
            try RegistryConformance.expect(
                try registry.fanOuts(before: nil, limit: 10).map(\.number), is: [other.number, first.number], "the list"
            )
            try RegistryConformance.expect(
                try registry.fanOuts(before: other.number, limit: 1), is: [first], "the list after the first")
            try RegistryConformance.expect(try registry.fanOut(first.number), is: first, "the first by its number")
            try RegistryConformance.expect(try registry.fanOut(other.number + 1), is: nil, "one that is not there")
        },
        RegistryConformance("A planner has a fan-out for itself, until it has been silent for a while") { registry in
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            let early = try registry.beginFanOut(
                event("1"), planner: 2, nowMilliseconds: now + FanOutRules.planningMilliseconds - 1)
            try RegistryConformance.expect(early.planner, is: 1, "the planner before its time is over")
            let written = try registry.planChunks(
                chunks(1...2, isLast: false), of: fanOut.number, planner: 1, nowMilliseconds: now + 4_000)
            try RegistryConformance.expect(written.chunksPlanned, is: 2, "chunks planned")
            let renewed = try registry.beginFanOut(
                event("1"), planner: 2, nowMilliseconds: now + FanOutRules.planningMilliseconds)
            try RegistryConformance.expect(renewed.planner, is: 1, "the planner after it wrote")
            let late = try registry.beginFanOut(
                event("1"), planner: 2, nowMilliseconds: now + 4_000 + FanOutRules.planningMilliseconds)
            try RegistryConformance.expect(late.planner, is: 2, "the planner after the first fell silent")
            let refused = try registry.planChunks(
                chunks(3...3, isLast: false), of: fanOut.number, planner: 1, nowMilliseconds: now + 10_000)
            try RegistryConformance.expect(refused, is: late, "what the old planner may still do")
        },
        RegistryConformance("Chunks are written in order and once, and can be read again") { registry in
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            let gap = try registry.planChunks(
                chunks(2...3, isLast: false), of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(gap.chunksPlanned, is: 0, "chunks planned behind a gap")
            let first = chunks(1...3, isLast: false)
            let planned = try registry.planChunks(first, of: fanOut.number, planner: 1, nowMilliseconds: now + 5)
            try RegistryConformance.expect(planned.chunksPlanned, is: 3, "chunks planned")
            try RegistryConformance.expect(planned.devicesPlanned, is: 30, "devices planned")
            try RegistryConformance.expect(planned.position, is: first[2].through, "the position")
            try RegistryConformance.expect(planned.changedAtMilliseconds, is: now + 5, "the time of the change")
            let twice = try registry.planChunks(first, of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(twice.chunksPlanned, is: 3, "chunks planned by a repeated call")
            try RegistryConformance.expect(
                try registry.chunks(of: fanOut.number, after: 0, limit: 10), is: first, "the chunks")
            try RegistryConformance.expect(
                try registry.chunks(of: fanOut.number, after: 1, limit: 1), is: [first[1]], "the second chunk")
            let last = try registry.planChunks(
                chunks(4...4, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(last.isWhole, is: true, "that all is planned")
            let more = try registry.planChunks(
                chunks(5...5, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(more, is: last, "what can be planned behind the last")
            try RegistryConformance.expect(.notFound, "a fan-out that is not there") {
                _ = try registry.planChunks(
                    chunks(1...1, isLast: true), of: fanOut.number + 1, planner: 1, nowMilliseconds: now)
            }
        },
        RegistryConformance("A fan-out is planned when the broker has confirmed its last chunk") { registry in
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            _ = try registry.planChunks(
                chunks(1...4, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now)
            let some = try registry.chunksPublished(through: 3, of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(some.state, is: .planning, "the state before the last chunk")
            let less = try registry.chunksPublished(through: 1, of: fanOut.number, planner: 2, nowMilliseconds: now)
            try RegistryConformance.expect(less.chunksPublished, is: 3, "chunks published, told again")
            let all = try registry.chunksPublished(through: 4, of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(all.state, is: .planned, "the state after the last chunk")
            let again = try registry.beginFanOut(event("1"), planner: 2, nowMilliseconds: now + 1_000_000)
            try RegistryConformance.expect(again, is: all, "what a redelivered event finds")
        },
        RegistryConformance("Fan-outs that ended long ago are forgotten, and their numbers are not used again") {
            registry in
            let done = try planned("done", chunks: 1, in: registry)
            try registry.chunksEnded([.init(key(done, 1), isCancelled: false)], nowMilliseconds: now)
            let open = try planned("open", chunks: 1, in: registry)
            let day = FanOutRules.doneKeptMilliseconds
            let next = try registry.beginFanOut(event("next"), planner: 1, nowMilliseconds: now + day + 1)
            try RegistryConformance.expect(try registry.fanOut(done.number), is: nil, "one that was done")
            try RegistryConformance.expect(try registry.fanOut(open.number), is: open, "one that is not done")
            try RegistryConformance.expect(
                try registry.chunkStates([key(done, 1), key(open, 1)]), is: [.waiting, .waiting], "their chunks")
            let late = try registry.beginFanOut(
                event("late"), planner: 1, nowMilliseconds: now + FanOutRules.otherKeptMilliseconds * 2)
            try RegistryConformance.expect(
                try registry.fanOuts(before: nil, limit: 10), is: [late], "what is left after long")
            try RegistryConformance.expect(late.number > next.number, is: true, "that numbers grow")
        },
    ]
}

extension FanOutConformance {
    static let servingChecks = [
        RegistryConformance("A chunk ends once, and with the last the fan-out is done") { registry in
            let fanOut = try planned("1", chunks: 3, in: registry)
            let keys = (1...3).map { key(fanOut, $0) }
            try RegistryConformance.expect(
                try registry.chunkStates(keys), is: [.waiting, .waiting, .waiting], "the chunks at first")
            for _ in 0..<2 {
                try registry.chunksEnded([.init(keys[1], isCancelled: false)], nowMilliseconds: now + 7)
            }
            try RegistryConformance.expect(
                try registry.chunkStates(keys), is: [.waiting, .served, .waiting], "the chunks when one has ended")
            try RegistryConformance.expect(
                try registry.fanOut(fanOut.number)?.chunksServed, is: 1, "chunks served, told twice")
            try registry.chunksEnded(
                [.init(keys[0], isCancelled: false), .init(keys[2], isCancelled: false)], nowMilliseconds: now + 8)
            let done = try registry.fanOut(fanOut.number)
            try RegistryConformance.expect(done?.state, is: .done, "the state at last")
            try RegistryConformance.expect(done?.changedAtMilliseconds, is: now + 8, "when it was done")
            try RegistryConformance.expect(
                try registry.chunkStates(keys), is: [.served, .served, .served], "the chunks at last")
            try registry.chunksEnded(keys.map { .init($0, isCancelled: false) }, nowMilliseconds: now + 9)
            try RegistryConformance.expect(try registry.fanOut(fanOut.number), is: done, "a fan-out that is done")
        },
        RegistryConformance("Chunks may end before their fan-out is planned") { registry in
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            _ = try registry.planChunks(
                chunks(1...2, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now)
            try registry.chunksEnded(
                (1...2).map { .init(key(fanOut, $0), isCancelled: false) }, nowMilliseconds: now)
            try RegistryConformance.expect(
                try registry.fanOut(fanOut.number)?.state, is: .planning, "the state while it is planned")
            let planned = try registry.chunksPublished(through: 2, of: fanOut.number, planner: 1, nowMilliseconds: now)
            try RegistryConformance.expect(planned.state, is: .done, "the state when it is planned")
        },
        RegistryConformance("A cancelled fan-out is neither planned on nor served") { registry in
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            _ = try registry.planChunks(
                chunks(1...3, isLast: false), of: fanOut.number, planner: 1, nowMilliseconds: now)
            try registry.chunksEnded([.init(key(fanOut, 1), isCancelled: false)], nowMilliseconds: now)
            let cancelled = try registry.cancelFanOut(fanOut.number, nowMilliseconds: now + 1)
            try RegistryConformance.expect(cancelled?.state, is: .cancelled, "the state")
            let keys = (1...3).map { key(fanOut, $0) }
            try RegistryConformance.expect(
                try registry.chunkStates(keys), is: [.served, .cancelled, .cancelled], "the chunks")
            let planned = try registry.planChunks(
                chunks(4...4, isLast: true), of: fanOut.number, planner: 1, nowMilliseconds: now + 2)
            try RegistryConformance.expect(planned, is: cancelled ?? fanOut, "what can be planned on")
            let published = try registry.chunksPublished(
                through: 3, of: fanOut.number, planner: 1, nowMilliseconds: now + 2)
            try RegistryConformance.expect(published.state, is: .cancelled, "the state after a late confirm")
            try registry.chunksEnded(keys.map { .init($0, isCancelled: true) }, nowMilliseconds: now + 3)
            let ended = try registry.fanOut(fanOut.number)
            try RegistryConformance.expect(ended?.chunksCancelled, is: 2, "chunks cancelled")
            try RegistryConformance.expect(ended?.chunksServed, is: 1, "chunks served")
            let again = try registry.beginFanOut(event("1"), planner: 2, nowMilliseconds: now + 1_000_000)
            try RegistryConformance.expect(again.state, is: .cancelled, "what a redelivered event finds")
            try RegistryConformance.expect(
                try registry.cancelFanOut(fanOut.number + 1, nowMilliseconds: now), is: nil, "one that is not there")
        },
        RegistryConformance("One that is done cannot be cancelled") { registry in
            let fanOut = try planned("1", chunks: 1, in: registry)
            try registry.chunksEnded([.init(key(fanOut, 1), isCancelled: false)], nowMilliseconds: now)
            let done = try registry.fanOut(fanOut.number)
            try RegistryConformance.expect(
                try registry.cancelFanOut(fanOut.number, nowMilliseconds: now + 1), is: done, "the fan-out")
        },
        RegistryConformance("A chunk of another event's fan-out with the same number is not known") { registry in
            let fanOut = try planned("1", chunks: 1, in: registry)
            let foreign = FanOutChunkKey(fanOut: fanOut.number, event: event("other").digest, chunk: 1)
            try registry.chunksEnded([.init(foreign, isCancelled: false)], nowMilliseconds: now)
            try RegistryConformance.expect(
                try registry.chunkStates([foreign, key(fanOut, 1)]), is: [.waiting, .waiting], "the chunks")
        },
    ]
}

extension FanOutConformance {
    static let membershipChecks = [
        RegistryConformance("Chunks hold each device that was there all the time once, and no later one") {
            registry in
            for kind in FanOutWalk.Kind.allCases {
                for round in 0..<2 {
                    var walk = FanOutWalk(
                        registry, kind: kind, name: "\(kind)\(round)", seed: UInt64.random(in: 0 ... .max))
                    try walk.run()
                }
            }
        },
        RegistryConformance("Lists are what the event says, in chunks as well") { registry in
            let names = (0..<10).map { "d\($0)" }
            try registry.upsert(try names.dropLast().map { try RegistryConformance.device($0) })
            let fanOut = try registry.beginFanOut(event("1"), planner: 1, nowMilliseconds: now)
            try registry.upsert([try RegistryConformance.device("d9")])
            for audience in [
                Audience.devices(names, app: "chat"),
                .tokens(try names.map { try RegistryConformance.device($0).token }, app: "chat"),
            ] {
                var found: [String] = []
                var after: AudienceCursor?
                for end in [4, 5, 9] as [Int64?] + [nil] {
                    let through = end.map { AudienceCursor(position: $0) }
                    let request = AudienceRequest(
                        audience: audience, cursor: after, through: through, asOfFanOut: fanOut.number)
                    found += try RegistryPages.all(of: request, in: registry, limit: 2).map(\.deviceID)
                    after = through
                }
                try RegistryConformance.expect(found, is: names, "the devices of \(audience)")
            }
        },
    ]
}
