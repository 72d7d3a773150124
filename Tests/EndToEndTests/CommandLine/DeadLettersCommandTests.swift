import ChangeQueue
import Metrics
import PushCore
import PushTestKit
import Testing

@Suite("apus dead-letters")
struct DeadLettersCommandTests {
    /// Puts dead letters into the queue, as a worker does: three of one reason, one of another.
    private func bench() async throws -> BrokerFolder {
        let bench = try await BrokerFolder()
        let configuration = try BrokerConfiguration(urls: [bench.broker.url], namespace: bench.namespace)
        let publisher = try ConfirmedPublisher(
            configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let counter = ConfirmCounter()
        publisher.start(handler: counter)
        let reasons = ["invalid-json", "unknown-app", "invalid-json", "invalid-json"]
        publisher.publish(
            reasons.enumerated().map { index, reason in
                var message = Message(body: index == 3 ? [0xFF, 0x00] : Array("body \(index)".utf8))
                message.properties.messageID = "m\(index)"
                message.headers = [
                    MessageHeader(name: "mine", value: .int64(7)),
                    MessageHeader(name: ParkingHeader.reason, value: .string(reason)),
                    MessageHeader(name: ParkingHeader.detail, value: .string("because of \(index)")),
                    MessageHeader(name: ParkingHeader.attempt, value: .int64(3)),
                ]
                return OutgoingMessage(
                    identifier: UInt64(index), exchange: "", routingKey: configuration.names.deadLetter,
                    message: message)
            })
        _ = await publisher.close(deadlineSeconds: 60)
        try #require(counter.confirmed.value == reasons.count)
        return bench
    }

    @Test("Listing shows place, reason and detail, filters, limits, and consumes nothing")
    func list() async throws {
        let bench = try await bench()
        let all = try await bench.apus("dead-letters", "list")
        #expect(all.exitCode == 0 && all.output.contains("1  invalid-json  m0  6 bytes  attempts 3\n    because of 0"))
        let json = try await bench.apus("dead-letters", "list", "--json", "--reason", "invalid-json", "--limit", "2")
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains(#""messageId":"m2""#), "\(json)")
        #expect(lines[0].contains(#""mine":7"#) && !lines[0].contains(#""body""#))
        let none = try await bench.apus("dead-letters", "list", "--reason", "nothing")
        #expect(none.exitCode == 0 && none.output.isEmpty && none.errors.contains("no dead letters"), "\(none)")
        try await bench.waitForMessages(4, in: "dead-letter")
    }

    @Test("One is shown whole, by place or by identifier, as text and as data; one that is not there is 65")
    func show() async throws {
        let bench = try await bench()
        let text = try await bench.apus("dead-letters", "show", "2")
        #expect(text.exitCode == 0 && text.output.contains("reason: unknown-app\ndetail: because of 1\n"), "\(text)")
        #expect(text.output.contains("mine: 7") && text.output.contains("body (6 bytes):\nbody 1"))
        let json = try await bench.apus("dead-letters", "show", "m3", "--json")
        #expect(json.output.contains(#""bodyHexadecimal":"ff00""#), "\(json)")
        for operand in ["9", "m9", "0", "-1"] {
            let missing = try await bench.apus("dead-letters", "show", "--", operand)
            #expect(missing.exitCode == 65 && missing.errors.contains("no dead letter \(operand)"), "\(missing)")
        }
    }

    @Test("Replaying and deleting take what is selected, and nothing in a dry run")
    func replayAndPurge() async throws {
        let bench = try await bench()
        let dry = try await bench.apus("dead-letters", "replay", "--reason", "invalid-json", "--dry-run")
        #expect(dry.exitCode == 0 && dry.errors.contains("3 of 4 dead letters would be replayed"), "\(dry)")
        let replay = try await bench.apus("dead-letters", "replay", "--reason", "unknown-app")
        #expect(replay.exitCode == 0 && replay.errors.contains("1 of 4 dead letters replayed"), "\(replay)")
        try await bench.waitForMessages(1, in: "work")

        let bare = try await bench.apus("dead-letters", "purge")
        #expect(bare.exitCode == 64 && bare.errors.contains("--all"), "\(bare)")
        let dryPurge = try await bench.apus("dead-letters", "purge", "-n")
        #expect(dryPurge.errors.contains("3 of 3 dead letters would be deleted"), "\(dryPurge)")
        let one = try await bench.apus("dead-letters", "purge", "--reason", "invalid-json", "--limit", "1")
        #expect(one.exitCode == 0 && one.errors.contains("1 of 3 dead letters deleted"), "\(one)")
        let rest = try await bench.apus("dead-letters", "purge", "--all")
        #expect(rest.exitCode == 0 && rest.errors.contains("2 of 2 dead letters deleted"), "\(rest)")
        try await bench.waitForMessages(0, in: "dead-letter")
        let empty = try await bench.apus("dead-letters", "list")
        #expect(empty.exitCode == 0 && empty.output.isEmpty, "\(empty)")
    }

    @Test("A queue that is missing is told with the remedy")
    func missingQueue() async throws {
        let bench = try await BrokerFolder(isApplied: false)
        for command in [["list"], ["show", "1"], ["replay"], ["purge", "--all"]] {
            let result = try await CommandRunner.apus(["dead-letters"] + command, in: bench.folder)
            #expect(result.exitCode == 78, "\(result)")
            #expect(result.errors.contains("\(bench.namespace).dead-letter"), "\(result)")
            #expect(result.errors.contains("apus topology apply"), "\(result)")
        }
    }
}
