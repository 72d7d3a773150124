import Messages
import RegistryCore

/// The requirements for every implementation of `DeadLetterRegistry`.
enum DeadLetterConformance {
    static let now: Int64 = 1_700_000_000_000

    /// All checks.
    static let all = [
        RegistryConformance("Dead letters keep their order and all that is known of them") { registry in
            let letters = (0..<25).map { letter($0) }
            try RegistryConformance.expect(try registry.addDeadLetters(letters), is: 25, "added")
            var last: Int64 = 0
            var found: [DeadLetterSummary] = []
            while true {
                let page = try registry.deadLetters(matching: DeadLetterFilter(), after: last, limit: 10)
                guard let end = page.last else { break }
                try RegistryConformance.expect(page.count <= 10, is: true, "the limit of a page")
                found += page
                last = end.number
            }
            try RegistryConformance.expect(
                found.map { withoutNumber($0) }, is: letters.map(\.summary), "the summaries")
            let messages = try registry.deadLetterMessages(found.map(\.number) + [999_999])
            try RegistryConformance.expect(messages.count, is: 25, "messages")
            for (summary, letter) in zip(found, letters) {
                try RegistryConformance.expect(messages[summary.number], is: letter.message, "a message")
            }
        },
        RegistryConformance("A dead letter that comes again is left as it is, in one batch and in another") {
            registry in
            let first = try registry.addDeadLetters([letter(1), letter(2), letter(1)])
            let second = try registry.addDeadLetters([letter(2), letter(3)])
            try RegistryConformance.expect([first, second], is: [2, 1], "new ones")
            let found = try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10)
            try RegistryConformance.expect(
                found.map(\.identifier), is: [1, 2, 3].map { letter($0).summary.identifier }, "the letters")
            try RegistryConformance.expect(try registry.addDeadLetters([]), is: 0, "none")
        },
        RegistryConformance("Dead letters are removed by number, and no number is used again") { registry in
            _ = try registry.addDeadLetters((0..<5).map { letter($0) })
            let numbers = try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 9).map(\.number)
            let removed = try registry.removeDeadLetters([numbers[1], numbers[4], numbers[4] + 100])
            try RegistryConformance.expect(removed, is: 2, "removed")
            _ = try registry.addDeadLetters([letter(4)])
            let rest = try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 9)
            try RegistryConformance.expect(
                rest.map(\.identifier), is: [0, 2, 3, 4].map { letter($0).summary.identifier }, "the rest")
            try RegistryConformance.expect(rest[3].number > numbers[4], is: true, "a new number")
        },
        RegistryConformance("Each filter of dead letters finds what it says, in pages and counts") { registry in
            let letters = (0..<40).map { letter($0) }
            _ = try registry.addDeadLetters(letters)
            for filter in filters {
                let found = try registry.deadLetters(matching: filter, after: 0, limit: 100)
                let expected = letters.map(\.summary).filter(filter.includes)
                try RegistryConformance.expect(found.map { withoutNumber($0) }, is: expected, "\(filter)")
                let oracle = InMemoryRegistry()
                _ = try oracle.addDeadLetters(letters)
                try RegistryConformance.expect(
                    try registry.deadLetterCounts(matching: filter), is: try oracle.deadLetterCounts(matching: filter),
                    "counts of \(filter)")
            }
        },
    ]

    // MARK: Values that the checks share

    private static var filters: [DeadLetterFilter] {
        func filter(_ change: (inout DeadLetterFilter) -> Void) -> DeadLetterFilter {
            var filter = DeadLetterFilter()
            change(&filter)
            return filter
        }
        return [
            DeadLetterFilter(),
            filter { $0.reason = "invalid-json" },
            filter { $0.app = "chat" },
            filter { $0.eventType = "dataset.changed" },
            filter { $0.eventType = "com.example.dataset.changed" },
            filter { $0.eventType = "changed" },
            filter { $0.eventType = "%.changed" },
            filter { $0.eventSource = "/sync" },
            filter { $0.eventIdentifier = "event 7 ü" },
            filter { $0.sinceMilliseconds = now + 10 },
            filter { $0.untilMilliseconds = now + 10 },
            filter { $0.identifierPrefix = "000" },
            filter { $0.identifierPrefix = letter(12).summary.identifier },
            filter {
                $0.reason = "invalid-json"
                $0.app = "chat"
                $0.sinceMilliseconds = now + 2
                $0.untilMilliseconds = now + 30
            },
        ]
    }

    private static func withoutNumber(_ summary: DeadLetterSummary) -> DeadLetterSummary {
        var summary = summary
        summary.number = 0
        return summary
    }

    /// A letter that its number makes; all that may be absent is so now and then.
    static func letter(_ number: Int) -> DeadLetter {
        let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        let body: [UInt8] = number.isMultiple(of: 5) ? [0xff, 0, UInt8(number)] : Array("body \(number)".utf8)
        var message = Message(body: number == 3 ? [] : body)
        message.properties.messageID = "m\(number)\u{0} \u{202e}"
        message.properties.timestampSeconds = .max
        message.headers = [
            MessageHeader("b", .array([.bytes([0, 255]), .void, .float64(-0.5)])),
            MessageHeader("a", .table([MessageHeader("x\n", .uint64(.max))])),
            MessageHeader("a", .rawString([0xff])),
        ]
        var summary = DeadLetterSummary(
            identifier: String(repeating: "0", count: 32 - digits.count) + digits,
            reason: number.isMultiple(of: 3) ? "invalid-json" : "unknown-app",
            deadLetteredMilliseconds: now + Int64(number), bodySizeBytes: message.body.count)
        summary.detail = number.isMultiple(of: 2) ? "because of \(number) ü" : nil
        summary.app = number.isMultiple(of: 4) ? nil : number.isMultiple(of: 7) ? "mail" : "chat"
        summary.eventSource = number.isMultiple(of: 5) ? nil : "/sync"
        summary.eventIdentifier = number.isMultiple(of: 6) ? nil : "event \(number) ü"
        summary.eventType = number.isMultiple(of: 5) ? "dataset.changed" : "com.example.dataset.changed"
        summary.attempts = number.isMultiple(of: 2) ? nil : Int64(number)
        summary.firstSeenMilliseconds = number.isMultiple(of: 3) ? nil : now - 5
        return DeadLetter(summary: summary, message: message)
    }
}
