import ChangeEvents
import ChangeQueue
import Glibc
import JSON
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import StructuredLogging
import Testing

@Suite("apus dead-letters")
struct DeadLettersCommandTests {
    /// Puts dead letters into the queue, as a worker does: three of one reason, one of another, unless there are more.
    private func bench(count: Int = 4) async throws -> BrokerFolder {
        let bench = try await BrokerFolder()
        _ = try SQLiteRegistry.open(path: bench.folder.path + "/registry.db", mode: .create)
        try await bury(0..<count, bench)
        return bench
    }

    private func bury(_ numbers: Range<Int>, _ bench: BrokerFolder) async throws {
        let configuration = try BrokerConfiguration(urls: [bench.broker.url], namespace: bench.namespace)
        let publisher = try ConfirmedPublisher(
            configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let counter = ConfirmCounter()
        publisher.start(handler: counter)
        publisher.publish(
            numbers.map { index in
                var message = Message(body: index == 3 ? [0xFF, 0x00] : Array("body\n\u{1B}[2J\(index)".utf8))
                message.properties.messageID = "m\(index)"
                message.properties.appID = "/test\u{1B}]0;x\u{7}"
                message.properties.contentType = "text/\u{9B}31m"
                message.headers = [
                    MessageHeader("mine\u{202E}", .int64(7)),
                    MessageHeader(
                        RetryHeader.reason, .string(index == 1 ? "unknown-app" : "invalid-json")),
                    MessageHeader(RetryHeader.detail, .string("because of \(index)")),
                    MessageHeader(RetryHeader.attempt, .int64(3)),
                    MessageHeader(RetryHeader.app, .string(index % 2 == 0 ? "chat" : "mail")),
                ]
                return OutgoingMessage(
                    identifier: UInt64(index), exchange: "", routingKey: configuration.names.deadLetter,
                    message: message)
            })
        _ = await publisher.close(deadlineSeconds: 60)
        try #require(counter.confirmed.value == numbers.count)
    }

    /// The identifiers and the events of all letters, in their order.
    private func letters(_ bench: BrokerFolder) async throws -> [(id: String, event: String)] {
        let list = try await bench.apus("dead-letters", "list", "--json", "--limit", "100000")
        try #require(list.exitCode == 0, "\(list)")
        let parser = JSONParser()
        return try list.output.split(separator: "\n").map { line in
            let root = try parser.parse(String(line))
            return (root["id"]?.string ?? "", root["eventId"]?.string ?? "")
        }
    }

    @Test("Listing is oldest first and the same each time; showing every letter shows each exactly once")
    func listAndShow() async throws {
        let bench = try await bench()
        let all = try await letters(bench)
        #expect(all.map(\.event) == ["m0", "m1", "m2", "m3"])
        for (id, event) in all {
            let shown = try await bench.apus("dead-letters", "show", String(id.prefix(12)), "--json")
            #expect(shown.exitCode == 0 && shown.output.contains(#""eventId":"\#(event)""#), "\(shown)")
        }
        #expect(try await letters(bench).map(\.id) == all.map(\.id))
        let json = try await bench.apus("dead-letters", "show", all[3].id, "--json")
        #expect(json.output.contains(#""bodyHexadecimal":"ff00""#), "\(json)")
        for operand in ["9", "m9", "0000000", "-1"] {
            let missing = try await bench.apus("dead-letters", "show", "--", operand)
            #expect(missing.exitCode == 65 && missing.errors.contains("\"\(operand)\""), "\(missing)")
        }
    }

    @Test("After list and show, purge deletes exactly the letter that was shown")
    func purge() async throws {
        let bench = try await bench()
        let all = try await letters(bench)
        let shown = try await bench.apus("dead-letters", "show", all[1].id)
        #expect(shown.output.contains("detail: because of 1"), "\(shown)")
        try await bury(4..<6, bench)
        let purged = try await bench.apus("dead-letters", "purge", String(all[1].id.prefix(12)))
        #expect(purged.exitCode == 0 && purged.errors.contains("1 dead letter deleted"), "\(purged)")
        #expect(try await letters(bench).map(\.event) == ["m0", "m2", "m3", "m4", "m5"])
        for words in [["purge"], ["purge", "--all", "--reason", "x"], ["replay"], ["purge", all[0].id, "--app", "x"]] {
            let bare = try await CommandRunner.apus(["dead-letters"] + words, in: bench.folder)
            #expect(bare.exitCode == 64, "\(bare)")
        }
        let limited = try await bench.apus("dead-letters", "purge", all[0].id, "--limit", "1")
        #expect(limited.exitCode == 64 && limited.errors.contains("--limit"), "\(limited)")
        let short = try await bench.apus("dead-letters", "purge", String(all[0].id.prefix(4)))
        #expect(short.exitCode == 65 && short.errors.contains("12 to 32"), "\(short)")
        let dry = try await bench.apus("dead-letters", "purge", "--app", "chat", "-n")
        #expect(dry.errors.contains("3 dead letters would be deleted"), "\(dry)")
        let rest = try await bench.apus("dead-letters", "purge", "--all")
        #expect(rest.exitCode == 0 && rest.errors.contains("5 dead letters deleted"), "\(rest)")
        #expect(try await letters(bench).isEmpty)
    }

    @Test("Filters select, counts count by reason and app, pages go on, and the export has everything")
    func filters() async throws {
        let bench = try await bench()
        func lines(_ words: String...) async throws -> [Substring] {
            let result = try await CommandRunner.apus(["dead-letters"] + words, in: bench.folder)
            #expect(result.exitCode == 0, "\(result)")
            return result.output.split(separator: "\n")
        }
        #expect(try await lines("export").count == 4)
        #expect(try await lines("export", "--reason", "invalid-json").count == 3)
        #expect(try await lines("list", "--json", "--app", "mail").count == 2)
        #expect(try await lines("list", "--json", "--event-id", "m2").count == 1)
        #expect(try await lines("list", "--json", "--since", "1h").count == 4)
        #expect(try await lines("list", "--json", "--until", "2026-01-31T12:00:00Z").isEmpty)
        let count = try await lines("count", "--json")
        #expect(
            count.first?.hasPrefix(#"{"count":4,"counts":[{"reason":"invalid-json","app":"chat","count":2"#) == true)
        let table = try await lines("list", "--limit", "2")
        #expect(table.count == 3 && table[1].contains("\tinvalid-json\tchat\t"), "\(table)")
        let second = try #require(table[2].split(separator: "\t").first)
        #expect(try await lines("list", "--json", "--after", String(second)).count == 2)
    }

    @Test("Nothing that came from outside reaches the terminal unescaped, as text or as JSON")
    func printable() async throws {
        let bench = try await bench()
        let first = try await letters(bench)[0].id
        for words in [["list"], ["list", "--json"], ["show", first], ["show", first, "--json"], ["export"]] {
            let result = try await CommandRunner.apus(["dead-letters"] + words, in: bench.folder)
            let isSafe = (result.output + result.errors).unicodeScalars.allSatisfy { scalar in
                scalar == "\n" || scalar == "\t"
                    || ![.control, .format].contains(scalar.properties.generalCategory)
            }
            #expect(result.exitCode == 0 && isSafe, "\(words): \(result)")
        }
    }

    @Test("Killed in the middle of collecting, it loses no letter and has none twice")
    func killed() async throws {
        let bench = try await bench(count: 3_000)
        let registry = try SQLiteRegistry.open(path: bench.folder.path + "/registry.db", mode: .readWrite)
        for target in [1, 600, 1_300] {
            let command = try RunningCommand(["dead-letters", "list"], in: bench.folder)
            try await eventually("\(target) letters to be collected") {
                let counts = try registry.deadLetterCounts(matching: DeadLetterFilter())
                return command.hasEnded || counts.reduce(0) { $0 + $1.count } >= target
            }
            command.signal(SIGKILL)
            _ = await command.end()
        }
        // The broker takes a moment to give back what a process held that was killed.
        let found = try await eventually("all letters") {
            try await letters(bench)
        } until: {
            $0.count >= 3_000
        }
        #expect(found.map(\.event).sorted() == (0..<3_000).map { "m\($0)" }.sorted())
    }

    @Test("Without a broker the letters of the registry are shown, with a warning and an exit code")
    func brokerIsGone() async throws {
        let bench = try await bench()
        #expect(try await letters(bench).count == 4)
        let away = ["--set", "rabbitmq.url=amqp://127.0.0.1:1/"]
        let list = try await CommandRunner.apus(["dead-letters", "list", "--json"] + away, in: bench.folder)
        #expect(list.exitCode == 69 && list.output.split(separator: "\n").count == 4, "\(list)")
        #expect(list.errors.contains("warning:"), "\(list)")
        let purge = try await CommandRunner.apus(["dead-letters", "purge", "--all"] + away, in: bench.folder)
        #expect(purge.exitCode == 69, "\(purge)")
        #expect(try await letters(bench).count == 4)
    }

    @Test("Without a registry nothing leaves the queue, and none is made")
    func registryIsMissing() async throws {
        let bench = try await bench()
        let other = ["--set", "registry.url=sqlite:missing.db"]
        let list = try await CommandRunner.apus(["dead-letters", "list"] + other, in: bench.folder)
        #expect(list.exitCode == 69 && list.errors.contains("missing.db"), "\(list)")
        #expect(try await letters(bench).count == 4)
    }

    @Test("A queue that is missing is told with the remedy")
    func missingQueue() async throws {
        let bench = try await BrokerFolder(isApplied: false)
        _ = try SQLiteRegistry.open(path: bench.folder.path + "/registry.db", mode: .create)
        for command in [["list"], ["count"], ["replay", "--all"], ["purge", "--all"]] {
            let result = try await CommandRunner.apus(["dead-letters"] + command, in: bench.folder)
            #expect(result.exitCode == 78, "\(result)")
            #expect(result.errors.contains("\(bench.namespace).dead-letter"), "\(result)")
            #expect(result.errors.contains("apus topology apply"), "\(result)")
        }
    }
}
