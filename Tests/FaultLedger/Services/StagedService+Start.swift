import APNsSimulator
import Crypto
import EventLoop
import FCMSimulator
import PushServiceSimulator
import PushTestKit
import WebPushSimulator

extension APNsSimulator: StagedSimulator {
    var stagedPorts: [UInt16] { [port] }

    func end() async throws -> Int { try await stop().recordsLost }
}

extension FCMSimulator: StagedSimulator {
    var stagedPorts: [UInt16] { [port] }

    func end() async throws -> Int { try await stop().recordsLost }
}

extension WebPushSimulator: StagedSimulator {
    var stagedPorts: [UInt16] {
        get throws { try originNames.compactMap { UInt16(try url(ofOrigin: $0).split(separator: ":").last ?? "") } }
    }

    func end() async throws -> Int { try await stop().recordsLost }
}

extension StagedService {
    /// The common settings of all simulators of a scenario.
    struct Stage: Sendable {
        /// Where certificates, keys and records go, which is where workers run.
        var folder: TemporaryFolder
        /// The seed of latencies and chances.
        var seed: UInt64
        /// The faults from the start.
        var standingFaults: [String]
        /// The answers for devices that are gone.
        var script: String
        /// How long an access token of FCM lives, in seconds.
        var accessTokenSeconds: Int
    }

    private static let latencyMilliseconds = 20...120

    /// Starts a service.
    ///
    /// - Parameters:
    ///   - kind: the kind of service.
    ///   - stage: the settings of its simulator.
    /// - Returns: the service; its certificate and the worker's key are in the folder.
    /// - Throws: the error of the simulator.
    static func start(_ kind: ServiceKind, _ stage: Stage) async throws -> StagedService {
        let identity = try ServingConfiguration.makeIdentity(nowSeconds: WallClock.nowMilliseconds() / 1_000)
        try stage.folder.write("\(kind.rawValue).pem", identity.certificateChainPEM)
        let recordPath = "\(stage.folder.path)/record-\(kind.rawValue).ndjson"
        let start: Start =
            switch kind {
            case .apns: try apns(stage, identity, recordPath)
            case .fcm: try fcm(stage, identity, recordPath)
            case .webpush: try webPush(stage, identity, recordPath)
            }
        return try await StagedService(kind, recordPath: recordPath, start: start)
    }

    private static func apns(_ stage: Stage, _ identity: ServerIdentity, _ recordPath: String) throws -> Start {
        let key = try ES256PrivateKey.generate()
        try stage.folder.write("key.p8", key.pem)
        var configuration = SimulatorConfiguration()
        serve(&configuration.serving, stage, identity, recordPath)
        configuration.teamKeys = [
            .init(teamID: SimulatorProcess.teamID, keyID: SimulatorProcess.keyID, publicKeyPEM: key.publicKeyPEM)
        ]
        configuration.bundleIDs = [Population.bundleID]
        configuration.script = try AnswerScript(
            parsing: Array(stage.script.utf8), nowMilliseconds: WallClock.nowMilliseconds())
        configuration.serving.faults = try SimulatorFaults(parsing: lines(stage.standingFaults))
        let prepared = configuration
        return { ports in
            var configuration = prepared
            if let ports { again(&configuration.serving, at: ports[0]) }
            return try await APNsSimulator.start(configuration)
        }
    }

    private static func fcm(_ stage: Stage, _ identity: ServerIdentity, _ recordPath: String) throws -> Start {
        let account = try ServiceAccountKey(projectID: "chat-4711")
        var configuration = FCMSimulatorConfiguration()
        serve(&configuration.serving, stage, identity, recordPath)
        configuration.projectID = "chat-4711"
        configuration.accounts = [account.account]
        configuration.accessTokenSeconds = stage.accessTokenSeconds
        // The load is denser than FCM allows a device for long.
        configuration.quotas.devicePerMinute = nil
        configuration.script = try TargetScript(parsing: Array(stage.script.utf8))
        configuration.serving.faults = try SimulatorFaults(parsingFCM: lines(stage.standingFaults))
        let prepared = configuration
        return { ports in
            var configuration = prepared
            if let ports { again(&configuration.serving, at: ports[0]) }
            let simulator = try await FCMSimulator.start(configuration)
            try stage.folder.write(
                "account.json", account.credentialsJSON(tokenURI: "https://127.0.0.1:\(simulator.port)/token"))
            return simulator
        }
    }

    private static func webPush(_ stage: Stage, _ identity: ServerIdentity, _ recordPath: String) throws -> Start {
        let key = try ES256PrivateKey.generate()
        try stage.folder.write("vapid.pem", key.pem)
        var configuration = WebPushSimulatorConfiguration()
        serve(&configuration.serving, stage, identity, recordPath)
        configuration.seed = stage.seed
        configuration.applicationServerKey = key.publicPoint
        configuration.script = try SubscriptionScript(parsing: Array(stage.script.utf8))
        configuration.webPushFaults = try WebPushFaults(parsing: lines(stage.standingFaults))
        let prepared = configuration
        return { ports in
            var configuration = prepared
            if let ports {
                for (index, port) in ports.enumerated() { configuration.origins[index].port = port }
                configuration.serving.appendsRecords = true
            }
            return try await WebPushSimulator.start(configuration)
        }
    }

    private static func serve(
        _ serving: inout ServingConfiguration, _ stage: Stage, _ identity: ServerIdentity, _ recordPath: String
    ) {
        serving.identity = identity
        serving.latency = .uniform(milliseconds: latencyMilliseconds, seed: stage.seed)
        serving.faultSeed = stage.seed
        serving.recordFile = recordPath
    }

    private static func again(_ serving: inout ServingConfiguration, at port: UInt16) {
        serving.port = port
        serving.appendsRecords = true
    }

    private static func lines(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }
}
