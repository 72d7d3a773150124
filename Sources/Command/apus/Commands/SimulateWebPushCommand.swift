import Crypto
import PushServiceSimulator
import ServiceClient
import WebPushSimulator
import WebPushTransport

/// `apus simulate-webpush`.
struct SimulateWebPushCommand: Command {
    let name = "simulate-webpush"
    let summary = "Simulate the push services of browsers on this machine"
    let help = CommandHelp(
        discussion: """
            Serves push services of browsers (RFC 8030) over HTTP/2 and TLS, each on a port of
            its own: a plain one, and those of Google, Mozilla, Apple and Microsoft. It makes
            subscriptions, checks VAPID tokens and header fields as each service does, decrypts
            each message as the browser would, and answers in each service's words. When it is
            ready it prints the addresses. It runs until SIGTERM or SIGINT, then prints totals.

            A worker needs the certificate and the host: set ca_file and trusted_hosts =
            ["localhost"] in [webpush]; with ports, as in "localhost:8450", `apus check
            --connect` tries them. --devices-out writes subscriptions for `apus device import`,
            which takes them with the same trusted_hosts.

            Script (--script): a file of JSON objects, one a line. Each line sets the answer
            for subscriptions, whose names are mozilla-0000000 and so on:
              {"subscription":"mozilla-0000000","answer":"gone"}
              {"subscription":"wns","answer":"throttled","retry_after":90,"times":2}
              {"subscription":"fcm","online":false}

            Faults (--faults) and control (--control): as for `apus simulate`; "token" is the
            name of a subscription, and "origin" that of a service.

            Record (--record): one JSON object for each message, with what was decrypted.
            """,
        examples: [
            .init(
                "apus simulate-webpush --ca-out webpush-ca.pem --app chat --devices 10 --devices-out browsers.ndjson",
                "Makes ten browsers of the app chat, for 'apus device import browsers.ndjson'.")
        ],
        exitCodes: [.data, .noInput, .unavailable, .cannotCreate, .configuration]
    )

    private static let keyFile = CommandOption.value(
        "key-file", letter: "k", "FILE",
        "The VAPID key of all subscriptions. Default: the first key that is used with each.")
    private static let app = CommandOption.value("app", "APP", "The app of --devices-out. Default: chat.")
    private static let devices = CommandOption.value("devices", "N", "How many devices it gets. Default: 10.")
    private static let devicesFile = CommandOption.value(
        "devices-out", "FILE", "Write subscriptions as devices, a JSON object a line.")
    private static let http1 = CommandOption.flag(
        "http1", "Speak HTTP/1.1 and nothing else, for senders that do not know HTTP/2.")
    private static let firstPort = CommandOption.value(
        "port", "PORT", "The port of the first service; the others follow. Default: any free ports.")

    let options =
        [firstPort, http1, SimulateOptions.trustAnchorFile, keyFile, app, devices, devicesFile] + SimulateOptions.files
        + [SimulateOptions.latency, SimulateOptions.seed, SimulateOptions.loops, SimulateOptions.trusting, .json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try configuration(invocation)
        let app = invocation.string(Self.app) ?? "chat"
        let count = try invocation.integer(Self.devices, in: 1...1_000_000) ?? 10
        return try await SimulatorRun.run(
            invocation, host: configuration.host,
            whenReady: { simulator in
                guard let path = invocation.string(Self.devicesFile) else { return }
                var lines = ""
                try simulator.forEachSubscription(count) { lines += $0.deviceLine(app: app) + "\n" }
                try SimulateFiles.writeSecret(lines, to: path)
            }, start: { try await WebPushSimulator.start(configuration) }, totals: Self.totals)
    }

    private func configuration(_ invocation: CommandInvocation) throws -> WebPushSimulatorConfiguration {
        var configuration = WebPushSimulatorConfiguration()
        try SimulateOptions.read(invocation, into: &configuration.serving)
        let first = try invocation.integer(Self.firstPort, in: 1...65_000)
        for index in configuration.origins.indices {
            configuration.origins[index].port = first.map { UInt16(clamping: $0 + index) } ?? 0
            configuration.origins[index].speaksHTTP1 = invocation.has(Self.http1)
        }
        configuration.subscriptionsPerOrigin = 1_000_000
        if let path = invocation.string(Self.keyFile) {
            do throws(ServiceError) {
                configuration.applicationServerKey = try VAPIDSigningKey(path: path).signingKey.publicPoint
            } catch { throw CommandFailure(.noInput, error.message) }
        }
        configuration.webPushFaults =
            try SimulateOptions.parsed(SimulateOptions.faults, invocation, WebPushFaults.init(parsing:)) ?? .none
        configuration.script =
            try SimulateOptions.parsed(SimulateOptions.script, invocation, SubscriptionScript.init(parsing:)) ?? .empty
        return configuration
    }

    private static func totals(of summary: WebPushSummary) -> SimulatorTotals {
        let (waiting, unreadable) = (summary.waiting, summary.unreadable)
        return SimulatorTotals(
            first: """
                answered     \(summary.answered) messages on \(summary.connections) connections
                accepted     \(summary.accepted), \(summary.duplicates) of them with subscription and content of another
                delivered    \(summary.delivered) to browsers, \(waiting) wait, \(unreadable) are unreadable
                """, shows: { $0.reason != nil })
    }
}

extension WebPushSimulator: ServedSimulator {
    func addresses(host: String) throws -> [(name: String, address: String)] {
        try originNames.map { (name: $0, address: try url(ofOrigin: $0)) }
    }
}
