import APNsSimulator
import Crypto
import Foundation
import Notifications
import PushServiceSimulator
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

/// A broker, a simulator of APNs, a registry and a configuration: everything but the worker, which is a process.
final class WorkerFixture: Sendable {
    let folder: TemporaryFolder
    let broker: PrivateRabbitMQ
    let simulator: APNsSimulator
    let namespace = PrivateRabbitMQ.makeNamespace()

    /// Starts the parts and applies the topology.
    ///
    /// - Parameters:
    ///   - broker: a node of its own, for tests that break it; nil for the shared one.
    ///   - script: lines of the simulator's script.
    ///   - configuration: lines to add to the configuration, before the app.
    /// - Throws: whatever a part throws that cannot be started.
    init(broker: PrivateRabbitMQ? = nil, script: String = "", configuration: String = "") async throws {
        folder = try TemporaryFolder()
        if let broker {
            self.broker = broker
        } else {
            self.broker = try await PrivateRabbitMQ.shared()
        }
        let key = try ES256PrivateKey.generate()
        try folder.write("key.p8", key.pem)
        var options = SimulatorConfiguration()
        options.teamKeys = [
            .init(teamID: SimulatorProcess.teamID, keyID: SimulatorProcess.keyID, publicKeyPEM: key.publicKeyPEM)
        ]
        options.bundleIDs = ["com.example.chat", "com.example.mail"]
        options.recordsInMemoryMaximum = 1_000_000
        options.script = try AnswerScript(parsing: Array(script.utf8), nowMilliseconds: 1_700_000_000_000)
        simulator = try await APNsSimulator.start(options)
        try folder.write("anchor.pem", simulator.trustAnchorPEM)
        try writeConfiguration(configuration)
        try await apply()
    }

    private func writeConfiguration(_ more: String) throws {
        var configuration = TestConfiguration(
            brokerURLs: [broker.url], apps: [.init(endpoint: "127.0.0.1:\(simulator.port)")])
        configuration.broker = "namespace = \"\(namespace)\""
        configuration.sections = more
        try folder.write("apus.toml", configuration.text)
    }

    private func apply() async throws {
        let result = try await apus("topology", "apply")
        try #require(result.exitCode == 0, "\(result)")
    }

    /// Runs a command of `apus` to its end.
    @discardableResult
    func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        try await CommandRunner.apus(arguments, input: input, in: folder)
    }

    /// Starts a worker.
    func startWorker() throws -> WorkerProcess { try WorkerProcess(in: folder) }

    /// Registers devices that joined the topic `news`.
    func registerReaders(_ count: Int) throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        try registry.register(
            try (0..<count).map { index in
                DeviceRegistration(
                    device: Device(
                        deviceID: "device-\(index)", platform: .apns, token: try Self.token(index), app: "chat",
                        registeredAtMilliseconds: 1_600_000_000_000), topics: ["news"])
            })
    }

    /// Registers devices of identities, each subscribed to `notes`: device n belongs to identity n / `perIdentity`.
    func register(_ count: Int, perIdentity: Int = 1) throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let devices = try (0..<count).map { index in
            Device(
                deviceID: "device-\(index)", platform: .apns, token: try Self.token(index), app: "chat",
                identityPoolID: TestEvents.pool, identityID: TestDevices.identity(index / perIdentity),
                registeredAtMilliseconds: 1_600_000_000_000)
        }
        try registry.upsert(devices)
        for identity in 0..<(count + perIdentity - 1) / perIdentity {
            try registry.recordDatasets([
                DatasetKey(
                    identityPoolID: TestEvents.pool, identityID: TestDevices.identity(identity), datasetName: "notes")
            ])
        }
        for device in devices { try registry.subscribe(device.deviceID, toDataset: "notes") }
    }

    static func token(_ index: Int) throws -> DeviceToken {
        try #require(DeviceToken(hexadecimal: TestDevices.token(index)))
    }

    /// An event that says that the dataset `notes` of an identity has changed.
    static func datasetChanged(_ identifier: String, identity index: Int, syncCount: Int, deviceID: String? = nil)
        -> String
    {
        TestEvents.datasetChanged(
            identifier, identity: TestDevices.identity(index), syncCount: syncCount, deviceID: deviceID)
    }

    /// Publishes lines of JSON with `apus publish`, confirmed.
    func publish(_ events: [String]) async throws {
        let file = try folder.write("events-\(UUID().uuidString).ndjson", events.joined(separator: "\n") + "\n")
        let result = try await apus("publish", "--file", file)
        try #require(result.exitCode == 0, "\(result)")
    }

    /// Waits until the work queue holds this many messages that no worker has.
    func waitForMessages(_ count: Int) async throws {
        try await eventually("the messages in the work queue", equals: count) {
            try await broker.messageCount(queue: "\(namespace).work")
        }
    }

    /// Waits until this many devices have had an accepted push, and gives all accepted pushes.
    func accepted(reachingDevices count: Int) async throws -> [RecordedPush] {
        while true {
            let answered = try await simulator.recorded()
            let accepted = answered.filter { $0.status == 200 }
            if Set(accepted.map(\.deviceToken)).count >= count { return accepted }
            try await simulator.waitForAnswers(answered.count + 1)
        }
    }

    func stop() async throws { try await simulator.stop() }

    /// A fixture with a node of its own, whose management API the configuration names.
    static func withManagementAPI() async throws -> WorkerFixture {
        let port = try FreePorts.find(1)[0]
        let broker = try await PrivateRabbitMQ.start(
            configuration: "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = \(port)",
            plugins: PrivateRabbitMQ.standardPlugins + ["rabbitmq_management"])
        let fixture = try await WorkerFixture(broker: broker)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            written.replacing("namespace = ", with: "management_url = \"http://127.0.0.1:\(port)\"\nnamespace = "))
        return fixture
    }

    /// The port of the management API.
    var managementPort: UInt16 {
        get throws {
            let text = try folder.read("apus.toml").split(separator: "management_url = \"http://127.0.0.1:").last
            return try #require(UInt16(text?.prefix { $0.isNumber } ?? ""))
        }
    }

    /// Runs a command again until it writes a text: RabbitMQ tells its API of a policy only every five seconds.
    func apus(_ arguments: String..., sayingInTheEnd text: String) async throws -> CommandResult {
        try await eventually("apus \(arguments) to say '\(text)'") {
            try await CommandRunner.apus(arguments, in: folder)
        } until: {
            $0.output.contains(text)
        }
    }
}
