import ChangeEvents
import ChangeQueue
import EventLoop
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import StructuredLogging
import Synchronization
import Testing

@testable import Dispatcher

@Suite("The counter of campaigns")
struct CampaignCounterTests {
    /// A registry in memory that tells how much it was asked for at once, and can be away.
    private final class Counts: CampaignRegistry, SchemaRegistry {
        let migrations = SQLiteRegistry.migrations
        let location = "memory"
        let store = InMemoryRegistry()
        var isAway = false
        var batches: [Int] = []

        func schemaState() throws(RegistryError) -> SchemaState { throw RegistryError(.unavailable, "not asked for") }

        private func check() throws(RegistryError) { if isAway { throw RegistryError(.unavailable, "away") } }

        func countPushes(_ pushes: [CampaignPush], nowMilliseconds: Int64) throws(RegistryError) -> Int {
            try check()
            batches.append(pushes.count)
            return try store.countPushes(pushes, nowMilliseconds: nowMilliseconds)
        }

        func countOpens(
            _ opens: [CampaignOpen], nowMilliseconds: Int64
        ) throws(RegistryError) -> [CampaignOpenResult] { [] }

        func campaigns(app: String?, before: Int64?, limit: Int) throws(RegistryError) -> [CampaignSummary] { [] }

        func campaign(_ key: CampaignKey) throws(RegistryError) -> CampaignSummary? { nil }

        func campaignSlices(
            _ key: CampaignKey, hours: ClosedRange<Int64>
        ) throws(RegistryError) -> [CampaignSlice] { [] }

        func forgetCampaigns(
            before hour: Int64, pushesBefore pushHour: Int64, limit: Int
        ) throws(RegistryError) -> Int {
            try check()
            return 0
        }
    }

    /// The counter and its registry, which live on the loop.
    private struct Parts {
        let counts: Counts
        let counter: CampaignCounter
    }

    private let loop: EventLoop
    private let parts: LoopBound<Parts>
    private let health = CampaignHealth()
    private let settled = Watched<[DeliveryTag]>([])

    init() throws {
        loop = try EventLoop(name: "campaigns")
        let counts = Counts()
        let counter = CampaignCounter(
            registry: counts, loop: loop, retentionHours: 24, health: health,
            metrics: CampaignMetrics(MetricsRegistry()), logger: .silent
        ) { [settled] tags in settled.update { $0 += tags } }
        parts = LoopBound(Parts(counts: counts, counter: counter), to: loop)
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (Parts) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.submit { [parts] in continuation.resume(returning: body(parts.value)) }
        }
    }

    /// An outcome of accepted pushes.
    private static func delivery(_ number: UInt64, pushCount: Int) -> Delivery {
        let pushes = (0..<pushCount).map { #"{"deviceId":"d\#($0)","platform":"APNS","endedAtMs":1}"# }
        let body = """
            {"outcome":"accepted","app":"chat","attempt":1,
             "event":{"source":"/shop","id":"\(number)","type":"push.requested","campaign":"sale"},
             "pushes":[\(pushes.joined(separator: ","))]}
            """
        return Delivery(
            tag: DeliveryTag(epoch: 1, number: number), deliveryClass: .interactive, isRedelivered: false,
            exchange: "apus.outcomes", routingKey: "", message: Message(body: Array(body.utf8)))
    }

    @Test("Outcomes are counted in small parts, so that others can write in between")
    func smallParts() async throws {
        let deliveries = [500, 300, 200, 1].enumerated().map { index, count in
            Self.delivery(UInt64(index + 1), pushCount: count)
        }
        await onLoop { $0.counter.received(deliveries) }
        try await eventually("all outcomes") { settled.value.count == deliveries.count }
        #expect(settled.value.map(\.number) == [1, 2, 3, 4])
        #expect(await onLoop { $0.counts.batches } == [500, 500, 1])
        loop.stopAndJoin()
    }

    @Test("A registry that could not forget is well again once it has forgotten, though nothing is counted")
    func recovery() async {
        await onLoop { parts in
            parts.counts.isAway = true
            parts.counter.start()
        }
        #expect(health.registry.withLock { $0 } == "away")
        await onLoop { parts in
            parts.counts.isAway = false
            parts.counter.start()
        }
        #expect(health.registry.withLock { $0 } == nil)
        loop.stopAndJoin()
    }
}
