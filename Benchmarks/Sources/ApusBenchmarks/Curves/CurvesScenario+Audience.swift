import Foundation
import PushTestKit

/// The whole worker, with events to one device and to many.
extension CurvesScenario {
    private static let devicesAtLeast = Scale.of(100_000, small: 2_000)
    private static let pushesAtLeast = Scale.of(200_000, small: 2_000)

    /// Shows the cost of a push by the audience of its event, 1 to 10⁶ devices.
    func showAudience() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        var cost = Curve.Series(name: "worker")
        var rate = Curve.Series(name: "worker")
        let audiences = Scale.of([1, 10, 100, 1_000, 10_000, 100_000, 1_000_000], small: [1, 100, 2_000]) + farEnd
        for audience in audiences {
            let figures = try await events(to: audience, broker: broker, simulatorPort: simulator.port)
            cost.points.append(.init(x: Double(audience), y: figures.microseconds))
            rate.points.append(.init(x: Double(audience), y: figures.perSecond))
        }
        try show(
            Curve(
                name: "audience-cpu", title: "Processor time of the worker by audience", xTitle: "devices an event",
                yTitle: "time a push, µs", series: [cost]))
        try show(
            Curve(
                name: "audience-rate", title: "Rate of one worker by audience", xTitle: "devices an event",
                yTitle: "pushes, 1/s", series: [rate]))
    }

    /// Serves events to audiences of one size, each with its own devices, from a full queue.
    func events(to audience: Int, broker: PrivateRabbitMQ, simulatorPort: UInt16) async throws -> LoadTool.Figures {
        let name = "audience-\(audience).db"
        defer {
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: bench.folder + "/" + name + end)
            }
        }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulatorPort, registryURL: bench.registryURL(name))
        try await bench.apus("topology", "apply")
        let identities = max(1, Self.devicesAtLeast / audience)
        try await bench.importDevices(identities * audience, into: name) { $0 / audience }
        let events = max(identities, (Self.pushesAtLeast + audience - 1) / audience)
        let load = BenchmarkLoad(count: events) { event in
            LoadMessage(
                routingKey: "push.requested",
                body: RegisteredDevice.request("\(audience)-\(event)", identity: event % identities))
        }
        try await bench.publish(load, to: broker)
        return try await bench.runWorker(pushes: events * audience)
    }
}
