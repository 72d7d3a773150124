import PushTestKit
import Testing

@Suite("apus topology, with several work queues")
struct WorkQueueCommandTests {
    private static func count(_ number: Int) -> String { "rabbitmq.work_queues=\(number)" }

    @Test("More queues are made and used, fewer are drained and deleted, each in one run where nothing is in the way")
    func changesNumber() async throws {
        let bench = try await BrokerFolder()
        let more = try await bench.apus("topology", "apply", "--set", Self.count(3))
        #expect(more.exitCode == 0, "\(more)")
        #expect(more.output.contains("consistent-hash exchange \(bench.namespace).work.hash: created"), "\(more)")
        #expect(more.output.contains("quorum queue \(bench.namespace).work.3: created"), "\(more)")
        #expect(try await bench.apus("topology", "check", "--set", Self.count(3)).exitCode == 0)
        let surplus = try await bench.apus("topology", "check", "--json")
        #expect(surplus.exitCode == 75, "\(surplus)")
        #expect(surplus.output.contains(#""status":"surplus","messages":0,"consumers":0"#), "\(surplus)")
        let fewer = try await bench.apus("topology", "apply")
        #expect(fewer.exitCode == 0, "\(fewer)")
        for number in 2...3 {
            let line = "\(bench.namespace).work.\(number): not asked for by the configuration, and empty: deleted"
            #expect(fewer.output.contains(line), "\(fewer)")
        }
        let check = try await bench.apus("topology", "check")
        #expect(check.exitCode == 0 && !check.output.contains("work.2"), "\(check)")
    }

    @Test("A queue too many that holds an event stays, and the command says what to do and ends with 75")
    func keepsEvents() async throws {
        let bench = try await BrokerFolder()
        #expect(try await bench.apus("topology", "apply", "--set", Self.count(2)).exitCode == 0)
        let events = (0..<30).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) + "\n" }
        #expect(try await bench.apus("publish", "--file", "-", input: events.joined()).exitCode == 0)
        let result = try await bench.apus("topology", "apply", "--wait", "0")
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.output.contains("start a worker, which empties it, then run `apus topology apply`"), "\(result)")
        #expect(try await bench.messageCount("work.2") ?? 0 > 0)
    }

    @Test("Without the plugin applying ends with 78 and the command that enables it")
    func needsPlugin() async throws {
        let broker = try await PrivateRabbitMQ.start(plugins: [])
        let folder = try TemporaryFolder()
        let arguments = ["--set", "rabbitmq.url=\(broker.url)", "--set", Self.count(2)]
        let result = try await CommandRunner.apus(["topology", "apply"] + arguments, in: folder)
        #expect(result.exitCode == 78, "\(result)")
        #expect(result.errors.contains("rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"), "\(result)")
        broker.stop()
    }

    @Test("It is printed with its bindings, and a prefetch that the queues cannot share is refused")
    func printed() async throws {
        let folder = try TemporaryFolder()
        let text = try await CommandRunner.apus(["topology", "print", "--set", Self.count(2)], in: folder)
        #expect(text.exitCode == 0 && text.output.contains("bound to apus.work.hash with 1"), "\(text)")
        #expect(text.output.contains("quorum queue apus.work.2"))
        let refused = try await CommandRunner.apus(
            ["topology", "print", "--set", Self.count(2), "--set", "rabbitmq.prefetch=1"], in: folder)
        #expect(refused.exitCode == 78 && refused.errors.contains("rabbitmq.work_queues"), "\(refused)")
    }
}
