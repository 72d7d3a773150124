import Foundation
import PushTestKit

/// A library that others send with, in place of our client.
enum SenderLibrary: String, CaseIterable {
    case firebaseAdmin = "firebase-admin"
    case pywebpush

    /// The push service that it sends to, in the names of figures.
    var service: String { self == .firebaseAdmin ? "fcm" : "webpush" }

    /// The push service for people.
    var serviceTitle: String { self == .firebaseAdmin ? "FCM" : "Web Push" }

    /// Its name in a table.
    var title: String {
        switch self {
        case .firebaseAdmin: "firebase-admin (Python, httpx, HTTP/2)"
        case .pywebpush: "pywebpush (Python, aiohttp, HTTP/1.1)"
        }
    }

    /// Its name in figures.
    var figureName: String { rawValue.replacing("-", with: "_") }
}

/// The job of a sender, in `job.json`; `Benchmarks/peers/README.md` describes it.
struct SenderJob: Encodable {
    var url: String
    var ca: String
    var warmUp = Scale.of(500, small: 50)
    var count = Scale.of(3_000, small: 100)

    // For FCM.
    var project: String?
    var token: String?
    var title: String?
    var body: String?

    // For Web Push.
    var key: String?
    var subject: String?
    var text: String?
    var subscriptions: [Subscription]?
    var connections: Int?

    /// A subscription as a browser hands it out.
    struct Subscription: Codable {
        /// Its keys in base64url.
        struct Keys: Codable { var p256dh, auth: String }

        var endpoint: String
        var keys: Keys
    }

    /// A job for a simulator that is `localhost` to the sender.
    init(simulator: SimulatorProcess, anchor: String) {
        url = "https://localhost:\(simulator.port)"
        ca = anchor
    }
}

/// A run of a sender, which measures itself.
struct SenderRun {
    private struct Measurement: Decodable {
        var seconds: Double
        var cpuSeconds: Double
    }

    let bench: Workbench
    let library: SenderLibrary
    let simulator: SimulatorProcess
    let job: SenderJob

    /// Measures the cost of its messages after those that warm it up.
    ///
    /// - Throws: `BenchmarkFailure` with its output if it fails, or if the simulator has not accepted all.
    func measure() async throws -> LoadTool.Figures {
        let name = "job-\(library.rawValue).json"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        try bench.write(name, String(decoding: try encoder.encode(job), as: UTF8.self))
        let before = try await simulator.accepted()
        let end = try await bench.run("\(bench.options.peersFolder)/\(library.rawValue)/worker", [name])
        guard end.exitCode == 0 else {
            throw BenchmarkFailure(description: "\(library.rawValue) failed: \(end.output)\(end.errors.suffix(2_000))")
        }
        let accepted = try await simulator.accepted() - before
        guard accepted == job.warmUp + job.count else {
            throw BenchmarkFailure(
                description: "\(library.rawValue) sent \(accepted) messages of \(job.warmUp + job.count)")
        }
        let measured = try JSONDecoder().decode(Measurement.self, from: Data(end.output.utf8))
        let count = Double(job.count)
        return LoadTool.Figures(
            perSecond: count / measured.seconds, microseconds: measured.cpuSeconds / count * 1_000_000)
    }
}
