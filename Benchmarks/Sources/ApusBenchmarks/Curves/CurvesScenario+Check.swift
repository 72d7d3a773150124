import CapacityModel
import PushTestKit

/// The model beside points that it was not made from: each figure has the model's as its reference.
extension CurvesScenario {
    /// Measures audiences, a distance and a number of devices between the points of the curves.
    func checkModel() async throws {
        let coefficients = CapacityCoefficients()
        try await checkAudiences()
        let (connections, milliseconds) = (3, 40)
        let rate = try await rate(connections: connections, milliseconds: milliseconds)
        let streams = Double(connections) * coefficients.streamsPerConnection
        let seconds = Double(milliseconds) / 1_000 + streams / coefficients.pushesPerSecondOfConnection
        report.add(
            "model_pushes_per_second_\(connections)_connections_\(milliseconds)_ms", rate, "1/s",
            reference: streams / seconds)
        let devices = Scale.of(300_000, small: 3_000)
        report.add(
            "model_bytes_per_device_\(devices)_devices", try await self.devices(devices).bytesPerDevice, "B",
            reference: coefficients.sqliteBytesPerDevice)
    }

    private func checkAudiences() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        for audience in Scale.of([3, 30, 3_000], small: [3]) {
            let measured = try await events(to: audience, broker: broker, simulatorPort: simulator.port)
            var load = CapacityLoad(devices: 100_000, eventsPerSecond: 1)
            load.audience = Double(audience)
            report.add(
                "model_cpu_per_push_audience_\(audience)", measured.microseconds, "µs",
                reference: CapacityPlan(for: load).microsecondsPerPush)
        }
    }
}
