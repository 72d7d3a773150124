import APNsSimulator
import Crypto
import Foundation
import Notifications
import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

/// A broker, a simulator of APNs, a registry and a configuration: everything but the worker, which is a process.
final class WorkerFixture: Sendable {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

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
        options.teamKeys = [.init(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", publicKeyPEM: key.publicKeyPEM)]
        options.bundleIDs = ["com.example.chat"]
        options.recordsInMemoryMaximum = 1_000_000
        options.script = try AnswerScript(parsing: Array(script.utf8), nowMilliseconds: 1_700_000_000_000)
        simulator = try await APNsSimulator.start(options)
        try folder.write("anchor.pem", simulator.trustAnchorPEM)
        try writeConfiguration(configuration)
        try await apply()
    }

    private func writeConfiguration(_ more: String) throws {
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "\(broker.url)"
            namespace = "\(namespace)"
            [retry]
            delays = ["200ms", "500ms", "1s"]
            server_error_delay = "200ms"
            [admin]
            listen = "127.0.0.1:0"
            [log]
            format = "json"
            \(more)
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            identity_pools = ["\(Self.pool)"]
            [app.apns]
            key_file = "key.p8"
            key_id = "ABC123DEFG"
            team_id = "DEF123GHIJ"
            endpoint = "127.0.0.1:\(simulator.port)"
            ca_file = "anchor.pem"
            """)
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
                identityPoolID: Self.pool, identityID: Self.identity(index / perIdentity),
                registeredAtMilliseconds: 1_600_000_000_000)
        }
        try registry.upsert(devices)
        for identity in 0..<(count + perIdentity - 1) / perIdentity {
            try registry.recordDatasets([
                DatasetKey(
                    identityPoolID: Self.pool, identityID: Self.identity(identity), datasetName: "notes")
            ])
        }
        for device in devices { try registry.subscribe(device.deviceID, toDataset: "notes") }
    }

    static func identity(_ index: Int) -> String {
        let digits = String(index, radix: 16)
        return "us-east-1:00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func token(_ index: Int) throws -> DeviceToken {
        try #require(DeviceToken(hexadecimal: tokenText(index)))
    }

    static func tokenText(_ index: Int) -> String {
        let digits = String(index, radix: 16)
        return String(repeating: "a", count: 64 - 8) + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// An event that says that the dataset `notes` of an identity has changed.
    static func datasetChanged(_ identifier: String, identity index: Int, syncCount: Int, deviceID: String? = nil)
        -> String
    {
        let device = deviceID.map { #","deviceId":"\#($0)""# } ?? ""
        return #"{"specversion":"1.0","id":"\#(identifier)","source":"test","type":"dataset.changed","data":{"#
            + #""identityPoolId":"\#(pool)","identityId":"\#(identity(index))","datasetName":"notes","#
            + #""syncCount":\#(syncCount)\#(device)}}"#
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
}
