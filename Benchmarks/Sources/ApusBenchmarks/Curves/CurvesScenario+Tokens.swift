import Foundation
import PushTestKit

/// The whole worker, one event for one device: with dead tokens among them, and with many apps.
extension CurvesScenario {
    private static let events = Scale.of(60_000, small: 2_000)

    /// Shows the cost of a push when some of the tokens are dead, each of which is removed from the registry.
    func showDeadTokens() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        try bench.write("dead.ndjson", #"{"token":"dead","answer":"unregistered"}"# + "\n")
        var cost = Curve.Series(name: "worker")
        for percent in Scale.of([0, 5, 10, 25, 50], small: [0, 50]) {
            let name = "dead-\(percent).db"
            try await importDevices(Self.events, into: name) { device in
                let token = TestDevices.token(device)
                return TestDevices.importLine(
                    device, token: device % 100 < percent ? "dead" + token.dropFirst(4) : token,
                    TestDevices.membership(device))
            }
            // After the import, because a token that was registered after its death lives again.
            let simulator = try await bench.startSimulator(["--script", "dead.ndjson", "--first-streams", "1000"])
            defer { simulator.kill() }
            try bench.writeConfiguration(
                broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL(name))
            try await bench.apus("topology", "apply")
            try await bench.publish(0..<Self.events, to: broker)
            let figures = try await bench.runWorker(pushes: Self.events, ended: "outcome=")
            cost.points.append(.init(x: Double(percent), y: figures.microseconds))
        }
        try show(
            Curve(
                name: "dead-tokens-cpu", title: "Processor time of the worker by dead tokens",
                xTitle: "dead tokens, %", yTitle: "time a push, µs", series: [cost], isLogarithmic: false))
    }

    /// Shows the cost of a push when events are spread evenly over apps, each with its own connection; a worker takes
    /// 256.
    func showApps() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        var cost = Curve.Series(name: "worker")
        var memory = Curve.Series(name: "worker")
        for apps in Scale.of([1, 4, 16, 64, 256], small: [1, 4]) {
            let name = "apps-\(apps).db"
            try writeConfiguration(
                apps: apps, broker: broker.url, simulatorPort: simulator.port, registry: name)
            try await bench.apus("topology", "apply")
            try await importDevices(Self.events, into: name) { device in
                #"{"deviceId":"\#(TestDevices.name(device))","platform":"APNS","#
                    + #""token":"\#(TestDevices.token(device))","app":"app-\#(device % apps)"}"#
            }
            let load = BenchmarkLoad(count: Self.events) { device in
                LoadMessage(
                    routingKey: "push.requested",
                    body: TestEvents.pushRequested(
                        "\(apps)-\(device)", to: .devices([TestDevices.name(device)]), app: "app-\(device % apps)"))
            }
            try await bench.publish(load, to: broker)
            var mebibytes = 0.0
            let figures = try await bench.runWorker(pushes: Self.events) { mebibytes = try $0.mebibytes("VmHWM") }
            cost.points.append(.init(x: Double(apps), y: figures.microseconds))
            memory.points.append(.init(x: Double(apps), y: mebibytes))
        }
        try show(
            Curve(
                name: "apps-cpu", title: "Processor time of the worker by apps", xTitle: "apps",
                yTitle: "time a push, µs", series: [cost]))
        try show(
            Curve(
                name: "apps-memory", title: "Most memory of the worker by apps", xTitle: "apps", yTitle: "memory, MiB",
                series: [memory]))
    }

    private func writeConfiguration(
        apps: Int, broker: String, simulatorPort: UInt16, registry: String
    ) throws {
        let all = (0..<apps).map { index in
            var app = TestConfiguration.App(endpoint: "127.0.0.1:\(simulatorPort)")
            (app.name, app.bundleID, app.pools) = ("app-\(index)", "\(Workbench.bundleID).n\(index)", [])
            return app
        }
        var configuration = TestConfiguration(brokerURLs: [broker], apps: all)
        configuration.registryURL = bench.registryURL(registry)
        configuration.retry = ""
        try bench.write("apus.toml", configuration.text)
    }

    private func importDevices(_ count: Int, into registry: String, line: (Int) -> String) async throws {
        let lines = (0..<count).map(line).joined(separator: "\n") + "\n"
        let path = try bench.write("devices.ndjson", lines)
        try await bench.apus("device", "import", "--set", "registry.url=\(bench.registryURL(registry))", path)
    }
}
