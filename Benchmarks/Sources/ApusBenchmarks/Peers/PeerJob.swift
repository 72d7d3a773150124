import Foundation
import PushTestKit

/// The job of another implementation's worker, in `job.json`; `Benchmarks/peers/README.md` describes it.
struct PeerJob: Encodable {
    /// Where the pushes go, and what they are signed with.
    struct APNs: Encodable {
        var port: UInt16
        var ca: String
        var key: String
        var keyId = SimulatorProcess.keyID
        var teamId = SimulatorProcess.teamID
        var topic = Workbench.bundleID
    }

    var broker: String
    var queue = "apus.work"
    var prefetch = 1_000
    var registry: String
    var apns: APNs

    /// A job for the same broker, registry and simulator as those of `apus.toml`.
    init(on bench: Workbench, broker: PrivateRabbitMQ, registry: String, simulatorPort: UInt16) {
        // The trailing slash would be a virtual host without a name to the client in Java.
        self.broker = String(broker.url.dropLast())
        self.registry = registry
        apns = APNs(port: simulatorPort, ca: bench.folder + "/anchor.pem", key: bench.folder + "/key.p8")
    }

    /// Writes the file.
    func write(on bench: Workbench) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        try bench.write("job.json", String(decoding: encoder.encode(self), as: UTF8.self))
    }
}
