import Crypto
import Essentials
import Foundation
import JSON
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import WebPushTransport

/// Subscriptions of browsers at one push service of a simulator, and how the client is run against it.
struct WebPushClientRun {
    /// The name of a simulator, if there is but one.
    static let defaultName = "webpush"
    /// How many messages are out at any time: enough that some wait for encryption.
    private static let window = 1_000

    let bench: Workbench
    let name: String
    let content: PushContent
    let tokens: [DeviceToken]
    /// The subscriptions as browsers hand them out, in JSON.
    let subscriptions: [String]
    private let vapid: VAPIDTokenSource

    /// Reads the subscriptions at the first service of a simulator that has this name.
    init(bench: Workbench, simulator: SimulatorProcess, name: String = defaultName) throws {
        self.bench = bench
        self.name = name
        content = try ServiceContent.content(for: .webPush)
        vapid = VAPIDTokenSource(key: VAPIDSigningKey(bench.key), subject: try VAPIDSubject("mailto:push@example.com"))
        var tokens: [DeviceToken] = []
        var subscriptions: [String] = []
        for line in try bench.temporary.read("\(name).ndjson").split(separator: "\n") {
            guard let subscription = try JSONParser().parse(Array(line.utf8))["subscription"],
                let endpoint = subscription["endpoint"]?.string
            else { throw BenchmarkFailure(description: "there is no subscription in \(line)") }
            guard endpoint.hasPrefix("https://localhost:\(simulator.port)/") else { continue }
            func bytes(_ name: StaticString) -> [UInt8] {
                Base64URL.decode(subscription["keys"]?[name]?.string ?? "") ?? []
            }
            let keys = WebPushKeys(publicKey: bytes("p256dh"), authenticationSecret: bytes("auth"))
            guard let keys,
                let token = DeviceToken(text: Array(endpoint.utf8), details: PushAddressDetails(webPushKeys: keys))
            else { throw BenchmarkFailure(description: "the keys in \(line) are of no use") }
            tokens.append(token)
            subscriptions.append(String(decoding: subscription.minified, as: UTF8.self))
        }
        (self.tokens, self.subscriptions) = (tokens, subscriptions)
    }

    /// Starts a simulator that accepts all messages unseen, and has 50 browsers at each service.
    ///
    /// - Parameters:
    ///   - bench: where it writes its certificate, `NAME.pem`, and the subscriptions, `NAME.ndjson`.
    ///   - name: its name.
    ///   - arguments: further arguments of `apus simulate-webpush`.
    /// - Returns: the simulator.
    /// - Throws: an error with its output if it does not start.
    static func startSimulator(
        on bench: Workbench, name: String = defaultName, _ arguments: [String] = []
    ) async throws -> SimulatorProcess {
        try await SimulatorProcess.startWebPush(
            in: bench.temporary, anchor: "\(name).pem",
            ["--trusting", "--devices", "250", "--devices-out", "\(name).ndjson"] + arguments)
    }

    /// Measures the cost of a number of messages, encryption included, after the first ones.
    func measure(count: Int, threads: Int) async throws -> LoadTool.Figures {
        let (client, load) = try await start(threads: threads)
        let figures = try await ClientRun.measure(load, count: count)
        await client.close()
        return figures
    }

    /// Starts a client that is connected, and what loads it.
    func start(threads: Int) async throws -> (client: WebPushServiceClient, load: PushLoad) {
        var configuration = WebPushServiceConfiguration(apps: [.init(name: "chat", tokens: vapid)])
        configuration.hosts.trustedHosts = ["localhost"]
        configuration.extraTrustAnchorsFile = "\(bench.folder)/\(name).pem"
        configuration.encryptionThreads = threads
        let client = try WebPushServiceClient(configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let load = PushLoad(transport: client, content: content, tokens: tokens, window: Self.window)
        client.start(handler: load)
        _ = await load.run(count: tokens.count)
        return (client, load)
    }
}
