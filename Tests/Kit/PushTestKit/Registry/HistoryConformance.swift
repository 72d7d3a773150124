import Messages
import Notifications
import RegistryCore

/// The requirements for every implementation of `OutcomeHistoryRegistry`.
enum HistoryConformance {
    private static let now: Int64 = 1_800_000_000_000

    private static func outcome(_ number: Int, of event: String) -> KeptOutcome {
        KeptOutcome(
            eventIdentifier: event, identifier: "outcome-\(100 + number)", body: Array(#"{"n":\#(number)}"#.utf8))
    }

    private static func expect(
        _ registry: any RegistryConformance.Store, _ event: String, is numbers: [Int], limit: Int = 100
    ) throws {
        let bodies = try registry.keptOutcomes(ofEvent: event, limit: limit)
        let texts = bodies.map { String(decoding: $0, as: UTF8.self) }
        try RegistryConformance.expect(texts, is: numbers.map { #"{"n":\#($0)}"# }, "outcomes of \(event)")
    }

    /// All checks.
    static let all = [
        RegistryConformance("Outcomes are found by the identifier of their event, byte by byte, the oldest first") {
            registry in
            try registry.keepOutcomes([], atMilliseconds: now)
            try registry.keepOutcomes(
                [outcome(2, of: "\u{e9}"), outcome(1, of: "\u{e9}"), outcome(3, of: "e\u{301}")], atMilliseconds: now)
            try registry.keepOutcomes([outcome(0, of: "\u{e9}")], atMilliseconds: now)
            try expect(registry, "\u{e9}", is: [1, 2, 0])
            try expect(registry, "\u{e9}", is: [1, 2], limit: 2)
            try expect(registry, "e\u{301}", is: [3])
            try expect(registry, "none", is: [])
        },
        RegistryConformance("An outcome that is told again is kept once") { registry in
            try registry.keepOutcomes([outcome(1, of: "a")], atMilliseconds: now)
            try registry.keepOutcomes([outcome(1, of: "a"), outcome(2, of: "a")], atMilliseconds: now + 1)
            try expect(registry, "a", is: [1, 2])
        },
        RegistryConformance("Outcomes that are too old are forgotten, a part at a time, the oldest first") { registry in
            for number in 0..<6 {
                try registry.keepOutcomes([outcome(number, of: "a")], atMilliseconds: now + Int64(number))
            }
            func forget(_ milliseconds: Int64, limit: Int) throws -> Int {
                try registry.forgetOutcomes(
                    beforeMilliseconds: now + milliseconds, outcomesMaximum: 100, limit: limit)
            }
            try RegistryConformance.expect(try forget(0, limit: 10), is: 0, "none is too old")
            try RegistryConformance.expect(try forget(4, limit: 3), is: 3, "the first part")
            try expect(registry, "a", is: [3, 4, 5])
            try RegistryConformance.expect(try forget(4, limit: 3), is: 1, "the rest")
            try expect(registry, "a", is: [4, 5])
        },
        RegistryConformance("Outcomes wait in their order, with headers and body, until they are removed") { registry in
            let outcomes = (0..<3).map { number in
                var message = Message(body: Array("\(number)".utf8))
                message.properties.messageID = "m\(number)"
                message.headers = [MessageHeader("cloudEvents_id", .string("m\(number)"))]
                return WaitingOutcome(routingKey: "accepted.\(number)", message: message)
            }
            try registry.addWaitingOutcomes([])
            try registry.addWaitingOutcomes(Array(outcomes.prefix(2)))
            try registry.addWaitingOutcomes(Array(outcomes.suffix(1)))
            func take(_ limit: Int, after milliseconds: Int64) throws -> [(number: Int64, outcome: WaitingOutcome)] {
                try registry.takeWaitingOutcomes(limit: limit, atMilliseconds: now + milliseconds)
            }
            let first = try take(1, after: 0)
            try RegistryConformance.expect(first.map(\.outcome), is: [outcomes[0]], "the first")
            let rest = try take(10, after: 1)
            try RegistryConformance.expect(rest.map(\.outcome), is: Array(outcomes.suffix(2)), "the others")
            try RegistryConformance.expect(try take(10, after: 2).count, is: 0, "all are taken")
            try registry.removeWaitingOutcomes([first[0].number, rest[1].number, 1_000_000])
            try RegistryConformance.expect(
                try take(10, after: OutcomeHistoryRules.takenMilliseconds + 2).map(\.outcome), is: [outcomes[1]],
                "one whose taker did not end")
            try registry.removeWaitingOutcomes([])
        },
        RegistryConformance("Of too many outcomes the oldest are forgotten") { registry in
            for number in 0..<5 { try registry.keepOutcomes([outcome(number, of: "a")], atMilliseconds: now) }
            let removed = try registry.forgetOutcomes(beforeMilliseconds: 0, outcomesMaximum: 2, limit: 100)
            try RegistryConformance.expect(removed, is: 3, "surplus")
            try expect(registry, "a", is: [3, 4])
        },
    ]
}
