import ChangeEvents
import ChangeQueue
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import StructuredLogging
import Testing

@Suite("apus topology")
struct TopologyCommandTests {
    @Test("What is missing is found, made once, and then found as it should be")
    func checkAndApply() async throws {
        let bench = try await BrokerFolder(isApplied: false)
        let missing = try await bench.apus("topology", "check")
        #expect(missing.exitCode == 78)
        #expect(missing.output.contains("\(bench.namespace).work: missing; run `apus topology apply`"), "\(missing)")
        let applied = try await bench.apus("topology", "apply")
        #expect(applied.exitCode == 0 && applied.output.contains("quorum queue \(bench.namespace).retry.1m: created"))
        let again = try await bench.apus("topology", "apply")
        #expect(again.exitCode == 0 && !again.output.contains("created"), "\(again)")
        let present = try await bench.apus("topology", "check", "--json")
        #expect(present.exitCode == 0 && present.output.contains(#""status":"present""#))
        #expect(!present.output.contains("missing"))
    }

    @Test("A queue that is different is reported with what is there and what is wanted, and is left alone")
    func different() async throws {
        let bench = try await BrokerFolder()
        let queue = "\(bench.namespace).retry.1m"
        try await bench.broker.control("delete_queue", queue)
        try await bench.broker.evaluate(
            """
            rabbit_amqqueue:declare(rabbit_misc:r(<<"/">>, queue, <<"\(queue)">>), true, false,
            [{<<"x-queue-type">>, longstr, <<"quorum">>}, {<<"x-message-ttl">>, long, 5}], none, <<"tests">>), ok.
            """)
        for command in ["check", "apply"] {
            let result = try await bench.apus("topology", command)
            #expect(result.exitCode == 78, "\(result)")
            #expect(result.output.contains("\(queue): "), "\(result)")
            #expect(result.output.contains("wanted") && result.output.contains("delete it"), "\(result)")
        }
    }

    @Test(
        "The queue of a former retry step is named until it is deleted, which only a flag does, and only if it is empty"
    )
    func unusedRetries() async throws {
        let bench = try await BrokerFolder()
        let queue = "\(bench.namespace).retry.30s"
        try await bench.apus("topology", "apply", "--set", "retry.delays=30s")
        let publisher = try ConfirmedPublisher(
            configuration: BrokerConfiguration(urls: [bench.broker.url]), logger: .silent, metrics: MetricsRegistry())
        publisher.start(handler: ConfirmCounter())
        publisher.publish([OutgoingMessage(identifier: 1, exchange: "", routingKey: queue, message: Message(body: []))])
        #expect(await publisher.close(deadlineSeconds: 60))
        for arguments in [["check"], ["apply"], ["apply", "--delete-unused-retries"]] {
            let result = try await CommandRunner.apus(["topology"] + arguments, in: bench.folder)
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                result.output.contains("\(queue): a step that retry.delays does not have any more, with 1 message;"),
                "\(result)")
        }
        try await bench.broker.control("purge_queue", queue)
        let deleted = try await bench.apus("topology", "apply", "--delete-unused-retries")
        #expect(deleted.exitCode == 0 && deleted.output.contains("\(queue): not asked for by"), "\(deleted)")
        let after = try await bench.apus("topology", "check", "--json")
        #expect(after.exitCode == 0 && !after.output.contains("retry.30s"), "\(after)")
    }

    @Test("It is printed without a broker, for people and for programs")
    func printed() async throws {
        let folder = try TemporaryFolder()
        let arguments = ["topology", "print", "--set", "rabbitmq.namespace=mine", "--set", "retry.delays=10s"]
        let text = try await CommandRunner.apus(arguments, in: folder)
        #expect(text.exitCode == 0 && text.output.contains("quorum queue mine.retry.10s\n"), "\(text)")
        #expect(text.output.contains("bound to mine.changes with #"))
        let json = try await CommandRunner.apus(arguments + ["--json"], in: folder)
        #expect(json.output.contains(#""name":"mine.retry.10s""#) && json.output.contains(#""x-message-ttl":10000"#))
    }

    @Test("A broker that is not there is the exit code 69, one that refuses the password 77, and neither shows it")
    func unusableBroker() async throws {
        let bench = try await BrokerFolder(isApplied: false)
        _ = try SQLiteRegistry.open(path: bench.folder.path + "/registry.db", mode: .create)
        for (url, code) in [
            ("amqp://guest:wr0ng@127.0.0.1:1/", Int32(69)), ("amqp://guest:wr0ng@127.0.0.1:\(bench.broker.port)/", 77),
        ] {
            for command in [["topology", "apply"], ["topology", "check"], ["dead-letters", "list"]] {
                let result = try await CommandRunner.apus(
                    command + ["--set", "rabbitmq.url=\(url)"], in: bench.folder)
                #expect(result.exitCode == code, "\(result)")
                #expect(!result.errors.contains("wr0ng") && result.errors.contains("127.0.0.1"))
            }
        }
    }
}
