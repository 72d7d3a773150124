import APNs
import APNsSimulator
import Synchronization
import Testing

@Suite("Push client: logging, metrics and the life of a service")
struct PushClientObservingTests {
    /// Keeps the entries of a log.
    private final class Log: PushLogHandler {
        let entries = Mutex<[(level: PushLogLevel, message: String, metadata: [String: String])]>([])

        func log(level: PushLogLevel, message: String, metadata: [String: String]) {
            entries.withLock { $0.append((level, message, metadata)) }
        }
    }

    /// Keeps the sums of counters, the number of durations and the last values of meters.
    private final class Instruments: PushMetricsFactory, Sendable {
        let values = Mutex<[String: Double]>([:])

        private func add(_ label: String, _ dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let name = Self.name(label, dimensions)
            return { amount in self.values.withLock { $0[name, default: 0] += Double(amount) } }
        }

        static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
            label + dimensions.map { " \($0)=\($1)" }.joined()
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            add(label, dimensions)
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let add = add(label, dimensions)
            return { add($0 > 0 ? 1 : 0) }
        }

        func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void {
            let name = Self.name(label, dimensions)
            return { value in self.values.withLock { $0[name] = value } }
        }
    }

    @Test("Connections are logged, and pushes are counted by outcome and timed")
    func logsAndMeasures() async throws {
        let service = try await PushService(script: #"{"token":"00000001","answer":"unregistered"}"#)
        let log = Log()
        let instruments = Instruments()
        let client = try PushClient(service.configuration(name: "chat"), logHandler: log, metricsFactory: instruments)
        let tokens = try (1...10).map { try PushService.token($0) }
        _ = try await client.send(try PushMessage([.body("Hello")]), to: tokens)
        await client.close()
        let late = try await client.send(try PushMessage([.body("Hello")]), to: tokens)
        #expect(late.count == 10)
        let values = instruments.values.withLock { $0 }
        #expect(
            values == [
                "apns_pushes_total app=chat outcome=accepted": 9, "apns_pushes_total app=chat outcome=rejected": 1,
                "apns_pushes_total app=chat outcome=not_processed": 10, "apns_push_duration app=chat": 10,
                "apns_pushes_in_flight app=chat": 0,
            ])
        let ready = log.entries.withLock { $0.first { $0.message == "push.connection.ready" } }
        #expect(ready?.level == .info && ready?.metadata["app"] == "chat")
        _ = try await service.simulator.stop()
    }

    @Test("A cancelled call counts its pushes as ambiguous, once each")
    func countsCancelledPushes() async throws {
        let service = try await PushService(script: #"{"token":"ffff","answer":"silent"}"#)
        let instruments = Instruments()
        let client = try PushClient(service.configuration(name: "chat"), metricsFactory: instruments)
        let message = try PushMessage([.body("Hello")])
        #expect(try await client.send(message, to: try PushService.token(1)).isAccepted)
        let call = Task { try await client.send(message, to: [PushService.token(0xFFFF_0001), PushService.token(2)]) }
        try await service.simulator.waitForAnswers(2)
        call.cancel()
        _ = try await call.value
        await client.close()
        let values = instruments.values.withLock { $0 }
        let sum = values.filter { $0.key.hasPrefix("apns_pushes_total") }.values.reduce(0, +)
        #expect(sum == 3 && values["apns_pushes_in_flight app=chat"] == 0)
        #expect((values["apns_pushes_total app=chat outcome=ambiguous"] ?? 0) >= 1)
        _ = try await service.simulator.stop()
    }

    @Test("A running client closes when its task is cancelled, and its run ends when it is closed")
    func runs() async throws {
        let service = try await PushService()
        let message = try PushMessage([.body("Hello")])
        let cancelled = try service.client()
        let running = Task { await cancelled.run() }
        #expect(try await cancelled.send(message, to: try PushService.token(1)).isAccepted)
        running.cancel()
        await running.value
        #expect(try await cancelled.send(message, to: try PushService.token(1)).isWorthRetrying)
        let closed = try service.client()
        let other = Task { await closed.run() }
        await closed.close()
        await other.value
        _ = try await service.simulator.stop()
    }
}
