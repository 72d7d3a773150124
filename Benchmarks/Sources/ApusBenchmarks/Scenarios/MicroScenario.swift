import ChangeEvents
import Crypto
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry

/// The parts of an event's way that need no network: decoding, rendering, signing, looking up.
struct MicroScenario {
    private static let devices = Scale.of(100_000, small: 1_000)

    private static let rounds = Scale.of(200_000, small: 2_000)
    private static let lookUps = Scale.of(100_000, small: 1_000)

    /// An event with all that an event of a dataset may have.
    static let changedDataset = """
        {"specversion":"1.0","id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","source":"/sync/eu-west-1/worker-17",\
        "type":"com.example.dataset.changed","time":"2026-11-21T10:11:12.345Z","datacontenttype":\
        "application/json","data":{"identityPoolId":"\(TestEvents.pool)","identityId":\
        "us-east-1:00000000-0000-0000-0000-000000000001","datasetName":"notes","syncCount":42,"deviceId":"phone-1"}}
        """

    let bench: Workbench
    let report: Report

    func run() async throws {
        try decode()
        try render()
        try sign()
        try await lookUp()
    }

    private func measure(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let cpu = ProcessorTime.ownMicroseconds()
        for index in 0..<count { try body(index) }
        return (ProcessorTime.ownMicroseconds() - cpu) / Double(count)
    }

    private func decode() throws {
        let body = Self.changedDataset
        let message = TestEvents.message(body)
        let decoder = EventDecoder()
        let cpu = try measure(Self.rounds) { _ in _ = try decoder.decode(message) }
        report.add("cpu_per_decode_dataset_changed_\(body.utf8.count)_bytes", cpu, "µs")
    }

    private func render() throws {
        var builder = PushContentBuilder(bundleID: Workbench.bundleID)
        let change = DatasetChange(
            operation: .changed, key: RegisteredDevice.dataset(1), syncCount: 42, deviceID: nil)
        let cpu = try measure(Self.rounds) { _ in _ = try builder.content(of: change, expirationSeconds: nil) }
        report.add("cpu_per_render_dataset", cpu, "µs")
    }

    private func sign() throws {
        let message = [UInt8](repeating: 65, count: 120)
        report.add(
            "cpu_per_provider_token_signature",
            try measure(Scale.of(5_000, small: 100)) { _ in _ = try bench.key.sign(message) }, "µs")
    }

    private func lookUp() async throws {
        try await bench.importDevices(Self.devices, into: "micro.db") { $0 }
        let registry = try SQLiteRegistry.open(path: bench.folder + "/micro.db", mode: .readWrite)
        for batch in [1, 100, 500] {
            let cpu = try measure(Self.lookUps / batch) { round in
                let requests = (0..<batch).map { index in
                    let device = (round &* 7_919 &+ index &* 104_729) % Self.devices
                    return AudienceRequest(audience: .dataset(RegisteredDevice.dataset(device)))
                }
                _ = try registry.resolve(requests, limit: 250)
            }
            report.add("cpu_per_look_up_\(Self.devices)_devices_batch_\(batch)", cpu / Double(batch), "µs")
        }
    }
}
