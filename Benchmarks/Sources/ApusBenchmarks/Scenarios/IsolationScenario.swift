import Foundation
import PushTestKit

/// What the trouble of one app costs the pushes of another: a full queue in which every fifth event is for an app that
/// APNs throttles, whose key it refuses, which it does not answer, or whose endpoint is not there.
///
/// Each time a new worker empties a queue like it, beside the same with both apps well in the moment before.
struct IsolationScenario {
    private static let events = 40_000
    private static let eventsBetween = 400
    private static let otherEventsBetween = 100
    private static let accepted = #"app="chat",outcome="accepted""#

    private static let troubles: [(name: String, fault: String?)] = [
        ("throttled", #"{"fault":"answer","status":429,"reason":"TooManyRequests"}"#),
        ("key_refused", #"{"fault":"answer","status":403,"reason":"InvalidProviderToken"}"#),
        ("unanswered", #"{"fault":"silence"}"#),
        ("unreachable", nil),
    ]

    let bench: Workbench
    let report: Report

    func run() async throws {
        let arguments = ["--trusting", "--first-streams", "1000"]
        let simulator = try bench.startSimulator(arguments)
        defer { simulator.process.end() }
        try bench.importDevices(2 * Self.troubles.count * Self.events, into: "isolation.db") { $0 }
        var first = 0
        for trouble in Self.troubles {
            var rates: [Double] = []
            for fault in ["", trouble.fault] {
                var other = arguments
                if let fault { other += ["--faults", try bench.write("isolation-faults.ndjson", fault)] }
                let otherSimulator = try bench.startSimulator(other, anchor: Workbench.otherAnchor)
                if fault == nil { otherSimulator.process.end() }
                let broker = try await PrivateRabbitMQ.start()
                try bench.writeConfiguration(
                    broker: broker.url, simulatorPort: simulator.port, registry: "isolation.db",
                    otherPort: otherSimulator.port)
                rates.append(try await pushedPerSecond(first..<first + Self.events, broker.url))
                broker.stop()
                otherSimulator.process.end()
                first += Self.events
            }
            report.add(
                "pushes_per_second_beside_app_\(trouble.name)", rates[1], "1/s", reference: rates[0],
                budget: .ratioAtLeast(0.9))
        }
    }

    /// Fills a queue with events of both apps, and lets a new worker empty it.
    private func pushedPerSecond(_ devices: Range<Int>, _ broker: String) async throws -> Double {
        try bench.apus("topology", "apply")
        let publisher = try PacedPublisher(broker: broker)
        for start in stride(from: devices.lowerBound, to: devices.upperBound, by: Self.eventsBetween) {
            _ = publisher.publish(start..<start + Self.eventsBetween, perSecond: nil)
            for number in 0..<Self.otherEventsBetween { publisher.publish(body: Self.otherEvent(start + number)) }
        }
        await publisher.close()
        let worker = try WorkerUnderTest(bench: bench)
        defer { worker.end() }
        func accepted() -> Int { worker.metric("apus_pushes_total", Self.accepted) }
        try worker.wait("the first push") { accepted() > 0 }
        let clock = ContinuousClock()
        let (start, before) = (clock.now, accepted())
        try worker.wait("all pushes of the app that is well") { accepted() >= Self.events }
        return Double(Self.events - before) / start.duration(to: clock.now).seconds
    }

    private static func otherEvent(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        let token = String(repeating: "b", count: 56) + String(repeating: "0", count: 8 - digits.count) + digits
        return #"{"specversion":"1.0","id":"other-\#(number)","source":"/benchmark","type":"push.requested","data":{"#
            + #""app":"other","deviceTokens":["\#(token)"],"notification":{"body":"hello"}}}"#
    }
}
