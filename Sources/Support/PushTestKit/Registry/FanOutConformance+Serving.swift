import PushCore

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
