import APNsSimulator
import APNsTransport
import ConnectionPool
import Foundation
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import Testing

/// All faults at once, by chance; `deploy/bin/fault-mix` runs it longer, and with a seed that is given.
@Suite("Client: a hostile simulator, all faults mixed", .serialized)
struct FaultMixTests {
    private static let faults = """
        {"fault":"goaway","probability":0.002}
        {"fault":"goaway","probability":0.002,"last":"previous","reason":"Shutdown"}
        {"fault":"goaway","probability":0.001,"last":"none"}
        {"fault":"reset-stream","probability":0.01,"error":7}
        {"fault":"reset-stream","probability":0.005,"error":2}
        {"fault":"answer","probability":0.01,"status":400,"reason":"BadDeviceToken"}
        {"fault":"answer","probability":0.005,"status":429,"reason":"TooManyRequests","retry_after":5}
        {"fault":"answer","probability":0.005,"status":410,"reason":"Unregistered","timestamp":1600000000000}
        {"fault":"answer","probability":0.003,"status":500,"body":"<html>","header_bytes":9000}
        {"fault":"answer","probability":0.002,"status":503,"reason":"ServiceUnavailable","body_bytes":200000}
        {"fault":"stream-limit","on":"rejection","probability":0.3,"streams":1,"back_ms":30}
        {"fault":"wedge","probability":0.0005}
        {"fault":"silence","probability":0.002}
        {"fault":"delay","probability":0.01,"ms":150}
        {"fault":"tcp-reset","probability":0.15,"bytes":20000}
        {"fault":"tcp-reset","probability":0.05,"bytes":1800}
        {"fault":"tcp-silence","probability":0.05,"bytes":30000}
        {"fault":"tcp-silence","probability":0.03}
        {"fault":"drip","probability":0.1,"bytes":400}
        {"fault":"window","probability":0.1,"add":20000,"every_ms":20}
        {"fault":"window","probability":0.03,"bytes":2000}
        {"fault":"certificate","probability":0.1}
        """

    private static var seeds: [UInt64] {
        if let seed = ProcessInfo.processInfo.environment["APUS_FAULT_SEED"].flatMap(UInt64.init) { return [seed] }
        return (0..<3).map { _ in .random(in: 0...1 << 40) }
    }

    /// How long each seed is run, in seconds.
    private static let seconds =
        ProcessInfo.processInfo.environment["APUS_FAULT_SECONDS"].flatMap(Double.init) ?? 1.5

    @Test("Whatever happens, each push ends once, no limit is exceeded, one token is enough, and memory stays flat")
    func endsEachPushOnce() async throws {
        // In a process of its own, whose memory no other test uses.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for seed in FaultMixTests.seeds { try await FaultMixTests.run(seed) }
        }
        if Self.seconds > 5 { print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)) }
    }

    private static func run(_ seed: UInt64) async throws {
        let replay = "replay with: deploy/bin/fault-mix --seed \(seed) --seconds \(Int(Self.seconds.rounded(.up)))"
        let script = try SimulatorFaults(parsing: Array(Self.faults.utf8))
        let world = try await SimulatorWorld(
            limits: {
                $0.connections = 3
                $0.connectionsMaximum = 6
                $0.deadlineNanoseconds = 1_500_000_000
                $0.connectTimeoutNanoseconds = 500_000_000
                $0.pingTimeoutNanoseconds = 300_000_000
                $0.starvationNanoseconds = 200_000_000
                $0.pressureNanoseconds = 5_000_000
            },
            simulator: {
                $0.faults = script
                $0.faultSeed = seed
                $0.maxConcurrentStreams = 100
                $0.recordsInMemoryMaximum = 0
            })
        var sent = 0
        var residentAfterWarmUp: Int?
        let clock = ContinuousClock()
        let start = clock.now
        while sent == 0 || start.duration(to: clock.now) < .seconds(Self.seconds) {
            world.fixture.send(sent..<sent + 500)
            sent += 500
            _ = await world.fixture.results.wait(count: sent)
            if residentAfterWarmUp == nil, start.duration(to: clock.now) > .seconds(Self.seconds / 3) {
                residentAfterWarmUp = try Self.residentBytes()
            }
        }
        let results = world.fixture.results.results.value
        let minted = world.fixture.metrics.render().split(separator: "\n")
            .filter { $0.hasPrefix("apus_apns_provider_tokens_minted_total{") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
        let growth = try Self.residentBytes() - (residentAfterWarmUp ?? Self.residentBytes())
        let summary = try await world.end()
        #expect(results.count == sent && Set(results.map(\.identifier)).count == sent, "\(replay)")
        #expect(summary.protocolViolations == 0, "\(replay)")
        #expect(summary.unauthenticatedStreamsMaximum <= 1, "\(replay)")
        #expect(summary.faults > sent / 100, "\(replay)")
        #expect(minted == 1, "\(minted) provider tokens in a few seconds; \(replay)")
        // The results that this test keeps are the most of it: 200 bytes each, generously.
        #expect(growth < 48 << 20 + sent * 200, "\(growth) bytes of growth; \(replay)")
        #expect(results.contains { $0.outcome == .answered(PushAnswer(status: 200)) }, "\(replay)")
        if Self.seconds > 5 { print("fault mix: seed \(seed): \(sent) pushes, \(summary.faults) faults") }
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
