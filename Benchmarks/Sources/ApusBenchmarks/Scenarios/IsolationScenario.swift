import Foundation
import PushTestKit

/// The effect of one app's trouble on the pushes of another.
///
/// Every fifth event of a full queue is for an app that APNs throttles, whose key it refuses, which it does not answer,
/// or whose endpoint is not there.
///
/// Each time a new worker empties a queue like it, beside the same with both apps well in the moment before: once where
/// the way to APNs is the limit, so that only what the apps share in the worker could make them slow each other, and
/// once where the processors are. There the requeued copies slow the other app, mostly in the broker, which shares the
/// processors; that has no budget.
struct IsolationScenario {
    /// The limit of a worker's speed.
    private struct Limit {
        let name: String
        let simulatorArguments: [String]
        let connections: Int?
        /// How many events the app has that is well.
        let events: Int
        let budget: Budget?
    }

    private static let eventsBetween = 400
    private static let otherEventsBetween = 100
    private static let accepted = #"app="chat",service="apns",outcome="accepted""#

    private static let allLimits = [
        Limit(
            name: "", simulatorArguments: ["--first-streams", "40", "--max-streams", "40", "--latency", "50"],
            connections: 2, events: Scale.of(12_000, small: 400), budget: .ratioAtLeast(0.9)),
        Limit(
            name: "_full_processors", simulatorArguments: ["--first-streams", "1000"], connections: nil, events: 40_000,
            budget: nil),
    ]
    /// With small counts one of them: the other differs in figures alone.
    private static let limits = Scale.of(allLimits, small: [allLimits[0]])
    private static let allTroubles: [(name: String, fault: String?)] = [
        ("throttled", #"{"fault":"answer","status":429,"reason":"TooManyRequests"}"#),
        ("key_refused", #"{"fault":"answer","status":403,"reason":"InvalidProviderToken"}"#),
        ("unanswered", #"{"fault":"silence"}"#),
        ("unreachable", nil),
    ]
    /// With small counts one that has an answer and one that has none.
    private static let troubles = Scale.of(allTroubles, small: [allTroubles[0], allTroubles[3]])

    let bench: Workbench
    let report: Report

    func run() async throws {
        let devices = Self.limits.reduce(0) { $0 + 2 * Self.troubles.count * $1.events }
        try await bench.importDevices(devices, into: "isolation.db") { $0 }
        var first = 0
        for limit in Self.limits {
            for trouble in Self.troubles {
                let reference = try await pushedPerSecond(limit, fault: "", first..<first + limit.events)
                first += limit.events
                let beside = try await pushedPerSecond(limit, fault: trouble.fault, first..<first + limit.events)
                first += limit.events
                report.add(
                    "pushes_per_second_beside_app_\(trouble.name)\(limit.name)", beside, "1/s", reference: reference,
                    budget: limit.budget)
            }
        }
    }

    /// Fills a queue with events of both apps, and lets a new worker empty it.
    ///
    /// - Parameters:
    ///   - limit: the limit of the worker's speed.
    ///   - fault: the fault of the other app's push service; none if it is empty, and no service at all if it is nil.
    ///   - devices: the devices of the app that is well.
    /// - Returns: how many pushes the app that is well had in a second.
    /// - Throws: `BenchmarkFailure` if a process does not start or does not get on.
    private func pushedPerSecond(_ limit: Limit, fault: String?, _ devices: Range<Int>) async throws -> Double {
        let arguments = ["--trusting"] + limit.simulatorArguments
        let simulator = try await bench.startSimulator(arguments)
        defer { simulator.kill() }
        let faults = try bench.write("isolation-faults.ndjson", fault ?? "")
        let other = try await bench.startSimulator(arguments + ["--faults", faults], anchor: Workbench.otherAnchor)
        defer { other.kill() }
        if fault == nil { await other.stop() }
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("isolation.db"),
            otherPort: other.port,
            connections: limit.connections)
        try await bench.apus("topology", "apply")
        try await bench.publish(Self.load(devices), to: broker)
        return try await bench.emptyQueue(Self.accepted, eventCount: devices.count)
    }

    /// Every fifth event is for the other app, in runs.
    private static func load(_ devices: Range<Int>) -> BenchmarkLoad {
        let (first, period) = (devices.lowerBound, eventsBetween + otherEventsBetween)
        return BenchmarkLoad(count: devices.count / eventsBetween * period) { index in
            let (run, position) = index.quotientAndRemainder(dividingBy: period)
            let start = first + run * eventsBetween
            if position < eventsBetween { return RegisteredDevice.message(start + position) }
            return LoadMessage(routingKey: "push.requested", body: otherEvent(start + position - eventsBetween))
        }
    }

    private static func otherEvent(_ number: Int) -> String {
        let token = TestDevices.token(number, filler: "b")
        return TestEvents.pushRequested("other-\(number)", to: .tokens([token]), app: "other")
    }
}
