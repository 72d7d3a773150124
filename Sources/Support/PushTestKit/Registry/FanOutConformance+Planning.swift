import PushCore

extension FanOutConformance {
    static let planningChecks = [
        RegistryConformance("An event has one fan-out, whoever begins it, and numbers grow") { registry in
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
