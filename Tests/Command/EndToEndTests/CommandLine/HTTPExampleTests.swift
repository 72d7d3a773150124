import APNsSimulator
import Foundation
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("The examples of publishers over HTTP", .timeLimit(.minutes(5)))
struct HTTPExampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = root.appending(path: "deploy/examples/http").path

    /// The command that starts an example, as its first line says; nil for an unknown one.
    private static func startingCommand(_ example: String) -> [String]? {
        let source = "\(sources)/\(example)"
        return switch example.split(separator: ".").last {
        case "py": ["/usr/bin/python3", source]
        case "go": ["/usr/bin/go", "run", source]
        case "java": ["/usr/bin/java", source]
        case "mjs": ["/usr/bin/node", source]
        case "php": ["/usr/bin/php", source]
        case "rb": ["/usr/bin/ruby", source]
        case "sh": ["/bin/sh", source]
        default: nil
        }
    }

    private static func start(
        _ example: String, _ fixture: WorkerFixture, _ port: UInt16, token: String
    ) throws -> RunningCommand {
        let command = try #require(startingCommand(example), "\(example)")
        return try RunningCommand(
            program: command[0], Array(command.dropFirst()) + ["http://127.0.0.1:\(port)", "order-of-\(example)"],
            environment: [
                "APUS_TOKEN": token, "GO111MODULE": "off", "GOCACHE": fixture.folder.path + "/go-cache",
                "HOME": fixture.folder.path, "NO_PROXY": "*",
            ], in: fixture.folder)
    }

    @Test("Each asks for a push, sends it again while RabbitMQ takes none, and ends with the answer to a wrong token")
    func publish() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let fixture = try await WorkerFixture(
            broker: broker, configuration: "[registry]\nlisten = \"127.0.0.1:0\"\nevents = true")
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .create)
        try registry.upsert([
            Device(
                deviceID: "phone", platform: .apns, token: try WorkerFixture.token(0), app: "chat", userID: "mei",
                registeredAtMilliseconds: 1)
        ])
        let added = try await fixture.apus("registry", "token", "add", "shop", "--permission", "publish")
        let token = try #require(added.output.split(whereSeparator: \.isWhitespace).last.map(String.init))
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        let port = try await worker.registryPort()
        let examples = try FileManager.default.contentsOfDirectory(atPath: Self.sources).sorted()
        let document = try String(contentsOf: Self.root.appending(path: "deploy/publishing.md"), encoding: .utf8)
        for example in examples { #expect(document.contains("](examples/http/\(example))"), "\(example)") }
        #expect(examples.count == 7)

        for example in examples {
            let refused = try await Self.start(example, fixture, port, token: "apus_wrong").end()
            #expect(
                refused.exitCode != 0 && (refused.errors + refused.output).contains("unauthenticated"), "\(refused)")
        }
        try broker.kill()
        try await worker.readiness(503, mentioning: #""registry-api-events","ok":false"#)
        let started = try examples.map { try Self.start($0, fixture, port, token: token) }
        try await eventually("each was told to come again") {
            try await worker.metric("apus_registry_api_events_total", #"outcome="failed""#) >= examples.count
        }
        try await broker.startAgain()
        for command in started {
            let result = await command.end()
            #expect(result.exitCode == 0, "\(result)")
        }
        let pushes = try await fixture.accepted(reachingDevices: 1)
        #expect(String(decoding: pushes[0].payload, as: UTF8.self).contains("On its way"))
        try await eventually("a push of each", equals: examples.count) {
            Set(try await fixture.simulator.recorded().filter { $0.status == 200 }.map(\.apnsID)).count
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
