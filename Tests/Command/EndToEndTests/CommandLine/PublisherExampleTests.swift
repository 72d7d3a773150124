import Foundation
import PushTestKit
import Testing

@Suite("The examples of publishers", .timeLimit(.minutes(5)))
struct PublisherExampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = root.appending(path: "deploy/examples/publishers").path

    /// How each example is started, as `deploy/publishing.md` says; nil for one that the tests do not know.
    private static func command(_ source: String) -> [String]? {
        switch source.split(separator: ".").last {
        case "py": ["/usr/bin/python3", source]
        case "go": ["/usr/bin/go", "run", source]
        case "java":
            ["/usr/bin/java", "-cp", "/usr/share/java/amqp-client.jar:/usr/share/java/slf4j-api.jar", source]
        default: nil
        }
    }

    private static func run(
        _ source: String, _ url: String, _ file: String, in folder: TemporaryFolder
    ) async throws -> CommandResult {
        let command = try #require(Self.command("\(sources)/\(source)"), "\(source)")
        let started = try RunningCommand(
            program: command[0], Array(command.dropFirst()) + [url, file, "push.requested.mei"],
            environment: [
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": folder.path + "/go-cache",
                "HOME": folder.path,
            ], in: folder)
        return await started.end()
    }

    @Test("Each publishes an event persistently, ends with RabbitMQ's confirm, and says what RabbitMQ refuses")
    func publish() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let folder = try TemporaryFolder()
        try folder.write("apus.toml", "[rabbitmq]\nurl = \"\(broker.url)\"\n")
        let event = Self.root.appending(path: "deploy/examples/push.requested.json").path
        let examples = try FileManager.default.contentsOfDirectory(atPath: Self.sources).sorted()
        #expect(examples == ["Publish.java", "publish.go", "publish.py"])

        func runAll() async throws -> [CommandResult] {
            try await withThrowingTaskGroup(of: CommandResult.self) { group in
                for example in examples {
                    group.addTask { try await Self.run(example, broker.url, event, in: folder) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }

        let missing = try await runAll()
        #expect(missing.allSatisfy { $0.exitCode != 0 }, "there is no exchange: \(missing)")
        let applied = try await CommandRunner.apus(["topology", "apply"], in: folder)
        try #require(applied.exitCode == 0, "\(applied)")
        for result in try await runAll() { #expect(result.exitCode == 0, "\(result)") }
        #expect(try await broker.messageCount(queue: "apus.work") == examples.count)

        try await broker.control("set_policy", "full", "^apus.work$", #"{"max-length":1}"#, "--apply-to", "queues")
        for result in try await runAll() {
            #expect(result.exitCode != 0 && result.errors.contains("RabbitMQ refuses the event"), "\(result)")
        }
        #expect(try await broker.messageCount(queue: "apus.work") == examples.count)
    }
}
