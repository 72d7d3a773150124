import Backoffice
import ChangeEvents
import Essentials
import EventLoop
import Metrics
import RegistryCore
import StructuredLogging
import Synchronization

/// The ports of a registry that counts campaigns.
typealias CountingRegistry = CampaignRegistry & SchemaRegistry

/// Counts outcomes in the registry, on a loop of its own; an outcome is acknowledged when the registry has it.
///
/// Outcomes that come while the registry is busy are counted together, in one transaction. SQLite has one writer at a
/// time, so transactions are small, and after each the registry is left to others for as long as it took.
final class CampaignCounter {
    /// The kinds of work at the registry, each of which may fail by itself.
    private enum Work { case counting, forgetting }

    /// As many as one outcome may tell of.
    private static let pushesAtOnceMaximum = 500
    private static let rowsForgottenAtOnce = 500
    private static let restNanosecondsMaximum: UInt64 = 1_000_000_000
    private static let retryNanoseconds: UInt64 = 1_000_000_000
    private static let forgetNanoseconds: UInt64 = 3_600_000_000_000
    private static let forgetRetryNanoseconds: UInt64 = 60_000_000_000

    private let registry: any CountingRegistry
    private let loop: EventLoop
    private let retentionHours: Int64
    private let health: CampaignHealth
    private let metrics: CampaignMetrics
    private let logger: Logger
    private let settle: ([DeliveryTag]) -> Void
    private var waiting: [(tag: DeliveryTag, pushes: [CampaignPush])] = []
    private var countTimer: EventLoop.Timer?
    private var forgetTimer: EventLoop.Timer?
    private var restsUntilNanoseconds: UInt64 = 0
    private var problems: [Work: String] = [:]

    init(
        registry: any CountingRegistry, loop: EventLoop, retentionHours: Int64, health: CampaignHealth,
        metrics: CampaignMetrics, logger: Logger, settle: @escaping ([DeliveryTag]) -> Void
    ) {
        self.registry = registry
        self.loop = loop
        self.retentionHours = retentionHours
        self.health = health
        self.metrics = metrics
        self.logger = logger
        self.settle = settle
    }

    func start() { forget() }

    func stop() {
        for timer in [countTimer, forgetTimer] { if let timer { loop.cancel(timer) } }
        waiting = []
    }

    // MARK: Counting

    /// Unacknowledged outcomes of an earlier connection come again.
    func connectionBegan() { waiting = [] }

    func received(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            do {
                waiting.append((delivery.tag, try OutcomeReport(delivery.message).campaignPushes))
            } catch {
                metrics.unreadable.add(1)
                logger.log(.warning, "campaigns.unreadable", [.field("reason", "\(error)")])
                waiting.append((delivery.tag, []))
            }
        }
        countSoon(afterNanoseconds: 0)
    }

    private func countSoon(afterNanoseconds delay: UInt64) {
        guard countTimer == nil, !waiting.isEmpty else { return }
        // Outcomes that arrive before the timer is due are counted along.
        countTimer = loop.schedule(afterNanoseconds: max(delay, restNanoseconds)) { [weak self] in
            self?.countTimer = nil
            self?.count()
        }
    }

    private func count() {
        guard !waiting.isEmpty else { return }
        var tags: [DeliveryTag] = []
        var pushes: [CampaignPush] = []
        for (tag, told) in waiting {
            if !tags.isEmpty, pushes.count + told.count > Self.pushesAtOnceMaximum { break }
            tags.append(tag)
            pushes += told
        }
        do throws(RegistryError) {
            if !pushes.isEmpty {
                let counted = try using { (registry) throws(RegistryError) in
                    try registry.countPushes(pushes, nowMilliseconds: WallClock.nowMilliseconds())
                }
                metrics.counted.add(counted)
                let told = pushes.reduce(0) { $0 + $1.endings.rawValue.nonzeroBitCount }
                metrics.repeated.add(told - counted)
            }
        } catch {
            failed(error, in: .counting)
            return countSoon(afterNanoseconds: Self.retryNanoseconds)
        }
        recovered(.counting)
        waiting.removeFirst(tags.count)
        settle(tags)
        countSoon(afterNanoseconds: 0)
    }

    // MARK: The registry

    /// Uses the registry, and then leaves it to others for as long as that took.
    private func using<Value>(
        _ body: (any CountingRegistry) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        let start = MonotonicClock.nowNanoseconds()
        defer {
            let end = MonotonicClock.nowNanoseconds()
            restsUntilNanoseconds = end + min(end - start, Self.restNanosecondsMaximum)
        }
        return try body(registry)
    }

    private var restNanoseconds: UInt64 {
        let now = MonotonicClock.nowNanoseconds()
        return restsUntilNanoseconds > now ? restsUntilNanoseconds - now : 0
    }

    private func failed(_ error: RegistryError, in work: Work) {
        let isNew = problems.updateValue(error.message, forKey: work) != error.message
        publishProblems()
        if isNew { logger.log(.error, "campaigns.registry.failed", [.field("reason", error.message)]) }
    }

    private func recovered(_ work: Work) {
        guard problems.removeValue(forKey: work) != nil else { return }
        publishProblems()
        logger.log(.info, "campaigns.registry.recovered", [])
    }

    private func publishProblems() {
        health.registry.withLock { $0 = problems[.counting] ?? problems[.forgetting] }
    }

    // MARK: Forgetting

    /// Removes what is too old, a part at a time so that counting goes on between.
    private func forget() {
        let hour = CampaignRules.hour(ofMilliseconds: WallClock.nowMilliseconds())
        var delay = Self.forgetNanoseconds
        do throws(RegistryError) {
            let removed = try using { (registry) throws(RegistryError) in
                try registry.forgetCampaigns(
                    before: hour - retentionHours, pushesBefore: hour - CampaignRules.pushMemoryHours,
                    limit: Self.rowsForgottenAtOnce)
            }
            recovered(.forgetting)
            if removed >= Self.rowsForgottenAtOnce { delay = restNanoseconds }
        } catch {
            failed(error, in: .forgetting)
            delay = Self.forgetRetryNanoseconds
        }
        forgetTimer = loop.schedule(afterNanoseconds: delay) { [weak self] in self?.forget() }
    }
}

/// The problems that keep outcomes from being counted, for readiness.
final class CampaignHealth: Sendable {
    /// Why nothing is consumed.
    let consumption = Mutex<String?>("not connected yet")
    /// Why the registry takes nothing.
    let registry = Mutex<String?>(nil)
}

/// The instruments of the counter.
final class CampaignMetrics: Sendable {
    let counted: Counter
    let repeated: Counter
    let unreadable: Counter

    init(_ metrics: MetricsRegistry) {
        counted = metrics.counter(
            "apus_campaign_endings_counted_total",
            help: "Matches and ends of campaigns' pushes that were counted.")
        repeated = metrics.counter(
            "apus_campaign_endings_repeated_total",
            help: "Matches and ends told again, and not counted again.")
        unreadable = metrics.counter(
            "apus_campaign_messages_unreadable_total",
            help: "Messages that were no outcomes, and were dropped.")
    }
}
