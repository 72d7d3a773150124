import ChangeEvents
import ChangeQueue
import DispatchCore
import Foundation
import Messages
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

@Suite("The examples of publishers", .timeLimit(.minutes(5)))
struct PublisherExampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = root.appending(path: "deploy/examples/publishers").path
    private static let event = root.appending(path: "deploy/examples/push.requested.json").path
    private static let runPython = root.appending(path: "Tests/Command/EndToEndTests/Scripts/run-python-publisher").path
    /// The one that makes its event itself.
    private static let eventMaker = "publish_cloudevents.py"
    /// The one whose client waits for no confirm.
    private static let unconfirmed = "publish.sh"

    private let broker: PrivateRabbitMQ
    private let managementURL: String
    private let folder: TemporaryFolder

    init() async throws {
        let port = try FreePorts.find(1)[0]
        broker = try await PrivateRabbitMQ.start(
            configuration: "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = \(port)",
            plugins: PrivateRabbitMQ.standardPlugins + ["rabbitmq_management"])
        managementURL = "http://guest:guest@127.0.0.1:\(port)"
        folder = try TemporaryFolder()
        try folder.write("apus.toml", "[rabbitmq]\nurl = \"\(broker.url)\"\n")
    }

    /// The command that starts an example, as its first line or `deploy/publishing.md` says; nil for an unknown one.
    private func startingCommand(_ example: String) -> [String]? {
        let source = "\(Self.sources)/\(example)"
        let operands = [broker.url, Self.event, "push.requested.mei"]
        if example == Self.eventMaker { return [Self.runPython, source, broker.url] }
        switch example.split(separator: ".").last {
        case "py": return ["/usr/bin/python3", source] + operands
        case "go": return ["/usr/bin/go", "run", source] + operands
        case "java":
            let jars = "/usr/share/java/amqp-client.jar:/usr/share/java/slf4j-api.jar"
            return ["/usr/bin/java", "-cp", jars, source] + operands
        case "mjs": return ["/usr/bin/node", source, managementURL] + operands.dropFirst()
        case "php": return ["/usr/bin/php", source] + operands
        case "rb": return ["/usr/bin/ruby", source] + operands
        case "sh": return ["/bin/sh", source] + operands
        default: return nil
        }
    }

    private func run(_ example: String) async throws -> CommandResult {
        let command = try #require(startingCommand(example), "\(example)")
        let started = try RunningCommand(
            program: command[0], Array(command.dropFirst()),
            environment: [
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": folder.path + "/go-cache",
                "HOME": folder.path,
            ], in: folder)
        return await started.end()
    }

    private func runAll(_ examples: [String]) async throws -> [CommandResult] {
        try await withThrowingTaskGroup(of: CommandResult.self) { group in
            for example in examples {
                group.addTask { try await run(example) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("Each publishes an event that a worker understands, persistently, and ends with RabbitMQ's confirm")
    func publish() async throws {
        defer { broker.stop() }
        let examples = try FileManager.default.contentsOfDirectory(atPath: Self.sources).sorted()
        #expect(
            examples == [
                "Publish.java", "publish.go", "publish.mjs", "publish.php", "publish.py", "publish.rb", "publish.sh",
                "publish_cloudevents.py",
            ])
        let document = try String(contentsOf: Self.root.appending(path: "deploy/publishing.md"), encoding: .utf8)
        for example in examples { #expect(document.contains("](examples/publishers/\(example))"), "\(example)") }
        let confirmed = examples.filter { $0 != Self.unconfirmed }

        let missing = try await runAll(confirmed)
        #expect(missing.allSatisfy { $0.exitCode != 0 }, "there is no exchange: \(missing)")
        let applied = try await CommandRunner.apus(["topology", "apply"], in: folder)
        try #require(applied.exitCode == 0, "\(applied)")
        for result in try await runAll(examples) { #expect(result.exitCode == 0, "\(result)") }
        try #require(try await broker.messageCount(queue: "apus.work") == examples.count)

        try await broker.control("set_policy", "full", "^apus.work$", #"{"max-length":1}"#, "--apply-to", "queues")
        for result in try await runAll(confirmed) {
            #expect(result.exitCode != 0 && result.errors.contains("RabbitMQ refuses the event"), "\(result)")
        }
        #expect(try await broker.messageCount(queue: "apus.work") == examples.count)
        try await readAsWorker(count: examples.count)

    }

    @Test("Each fails if no queue takes the event")
    func unroutable() async throws {
        defer { broker.stop() }
        let applied = try await CommandRunner.apus(["topology", "apply"], in: folder)
        try #require(applied.exitCode == 0, "\(applied)")
        try await broker.removeBindings(from: "apus.changes")
        let examples = try FileManager.default.contentsOfDirectory(atPath: Self.sources)
        for result in try await runAll(examples.filter { $0 != Self.unconfirmed }) {
            let isTold = result.errors.contains("no queue takes the event") || result.errors.contains("UnroutableError")
            #expect(result.exitCode != 0 && isTold, "\(result)")
        }
    }

    /// Reads the events as a worker does.
    private func readAsWorker(count: Int) async throws {
        let configuration = try BrokerConfiguration(urls: [broker.url])
        let consumer = try ChangeConsumer(configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let log = ReceivedEvents()
        consumer.start(handler: log)
        try #require(await log.messages.wait { $0.count >= count })
        await consumer.close()
        var validator = EventValidator()
        for message in log.messages.value {
            #expect(message.properties.deliveryMode == 2)
            guard case .push(let push) = try validator.validate(message).kind else {
                Issue.record("\(message) requests no push")
                continue
            }
            #expect(push.audience == .users(["user-1729"], app: push.app))
        }
    }
}

private final class ReceivedEvents: DeliveryHandler {
    let messages = Watched<[Message]>([])

    func deliveriesReceived(_ deliveries: [Delivery]) { messages.update { $0 += deliveries.map(\.message) } }

    func sourceStateChanged(_ newState: DeliverySourceState) {}
}
