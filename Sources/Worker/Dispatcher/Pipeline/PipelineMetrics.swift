import ChangeEvents
import DispatchCore
import Essentials
import Metrics
import Notifications
import Tracing
import WebPushTransport

/// The instruments of the pipeline; made at start.
///
/// An app's instruments appear with their first value. Instruments whose first value must not be missed start at 0.
final class PipelineMetrics {
    enum EventOutcome: String, CaseIterable {
        case dispatched
        case unmatched
        case coalesced
        case expired
        case rejected
        case repeated
        case skipped
    }

    private struct AppInstruments {
        let matched: Counter
        let accepted: Counter
        let tokenDead: Counter
        let expired: Counter
        let coalesced: Counter
        let reduced: Counter
        let requeuedForRetry: Counter
        let deadLettered: Counter
        let inFlight: Gauge
        let unaccounted: Gauge
        let duration: Histogram
        let unanswered: Counter
    }

    /// Exemplars have the identifier of a push, which Apple keeps, too.
    private static let apnsID = Exemplar.Label("apns_id") { "\(APNsIdentifier(high: $0.high, low: $0.low))" }

    let fanOuts: FanOutMetrics
    let headersIgnored: Counter
    let historyLeftOut: Counter
    let eventsForgotten: Counter
    let eventsUntimed: Counter
    let lag: Histogram
    let pruned: Counter
    let registryFailures: Counter
    let outcomesPublished: Counter
    let outcomesDropped: Counter
    let health: AppHealthMetrics
    private let registry: MetricsRegistry
    private let apps: [AppInstruments]
    /// By type; nil for an event whose type is not known.
    private let events: [EventType?: [EventOutcome: Counter]]
    private var reported: [PushCounts]
    private var deadLetters: [String: Counter] = [:]
    private var withoutToken: [String: Counter] = [:]

    init(registry: MetricsRegistry, routes: [AppRoute]) {
        self.registry = registry
        fanOuts = FanOutMetrics(registry)
        historyLeftOut = registry.counter(
            "apus_history_left_out_total",
            help: "Outcomes that are missing in the history of events, because the registry did not take them in time.")
        headersIgnored = registry.counter(
            "apus_events_headers_ignored_total",
            help: "Deliveries whose publisher set headers of Apus, which are ignored.")
        eventsForgotten = registry.counter(
            "apus_events_forgotten_total",
            help: "Remembered events forgotten before their time, because there are events.remember_maximum.")
        eventsUntimed = registry.counter(
            "apus_events_untimed_total",
            help: "Events that do not say when they happened, so that their lag counts from publishing.")
        lag = registry.histogram(
            "apus_event_lag_seconds",
            help: "From the publication of an event to the acceptance of its push.",
            boundsSeconds: Histogram.ageBoundsSeconds, exemplars: Self.apnsID)
        pruned = registry.counter(
            "apus_tokens_pruned_total",
            help: "Dead tokens removed; with an alert token goes its device.")
        registryFailures = registry.counter(
            "apus_registry_failures_total", help: "Calls that the registry did not answer; their events wait.")
        outcomesPublished = registry.counter(
            "apus_outcomes_published_total", help: "Messages with outcomes that RabbitMQ has confirmed.")
        outcomesDropped = registry.counter(
            "apus_outcomes_dropped_total",
            help: "Messages with outcomes that RabbitMQ did not take.")
        health = AppHealthMetrics(registry, routes: routes)
        apps =
            routes.map { Self.instruments(registry, app: $0.name, service: $0.service.rawValue) }
            + [Self.instruments(registry, app: "unknown", service: "unknown")]
        reported = Array(repeating: PushCounts(), count: routes.count + 1)
        events = Self.eventCounters(registry)
        for reason in EventRejection.Reason.allCases where reason != .skipped { _ = deadLetterCounter(reason.rawValue) }
        for route in routes where route.service == .apns {
            for kind in TokenKind.allCases { countWithoutToken(app: route.name, kind: kind, 0) }
        }
    }

    private static func instruments(_ registry: MetricsRegistry, app: String, service: String) -> AppInstruments {
        let labels = [MetricsRegistry.Label("app", app), .init("service", service)]
        func ended(_ outcome: String, appears appearance: MetricsRegistry.Appearance = .onceUsed) -> Counter {
            registry.counter(
                "apus_pushes_total", help: "Pushes that ended, by outcome.",
                labels: labels + [MetricsRegistry.Label("outcome", outcome)], appears: appearance)
        }
        return AppInstruments(
            matched: registry.counter(
                "apus_pushes_matched_total", help: "Pushes that events called for.", labels: labels),
            accepted: ended("accepted", appears: .always), tokenDead: ended("token_dead"), expired: ended("expired"),
            coalesced: ended("coalesced"),
            reduced: registry.counter(
                "apus_pushes_reduced_total",
                help:
                    "Subscriptions' pushes that show nothing, because their texts are too long.",
                labels: labels, appears: .onceUsed),
            requeuedForRetry: ended("requeued_retry"),
            deadLettered: ended("requeued_dead_letter"),
            inFlight: registry.gauge(
                "apus_pushes_in_flight", help: "Pushes matched and not ended.", labels: labels, appears: .onceUsed),
            unaccounted: registry.gauge(
                "apus_pushes_unaccounted",
                help: "Pushes matched less those ended and in flight; not 0 is a defect.",
                labels: labels, appears: .unlessZero),
            duration: registry.histogram(
                "apus_push_duration_seconds",
                help: "From the request of a push to its answer.",
                boundsSeconds: Histogram.requestBoundsSeconds, labels: [.init("service", service)],
                exemplars: apnsID),
            unanswered: registry.counter(
                "apus_push_attempts_unanswered_total",
                help: "Attempts of pushes that ended without an answer.", labels: labels,
                appears: .onceUsed))
    }

    private static func eventCounters(_ registry: MetricsRegistry) -> [EventType?: [EventOutcome: Counter]] {
        var counters: [EventType?: [EventOutcome: Counter]] = [:]
        for type in EventType.allCases.map(Optional.some) + [nil] {
            for outcome in EventOutcome.allCases {
                counters[type, default: [:]][outcome] = registry.counter(
                    "apus_events_total", help: "Events by type and by outcome.",
                    labels: [.init("type", type?.rawValue ?? "unknown"), .init("outcome", outcome.rawValue)])
            }
        }
        return counters
    }

    func countEvent(_ type: EventType?, _ outcome: EventOutcome) { events[type]?[outcome]?.add() }

    /// Counts devices or tokens that a push was not for, because they have no token of its kind.
    func countWithoutToken(app: String, kind: TokenKind, _ count: Int) {
        let key = "\(kind.rawValue) \(app)"
        let counter =
            withoutToken[key]
            ?? registry.counter(
                "apus_devices_without_token_total",
                help: "Devices and tokens of a target without a token of the push's kind.",
                labels: [.init("app", app), .init("kind", kind.rawValue)], appears: .onceUsed)
        withoutToken[key] = counter
        counter.add(count)
    }

    func countDeadLetter(_ reason: String) { deadLetterCounter(reason).add() }

    private func deadLetterCounter(_ reason: String) -> Counter {
        if let counter = deadLetters[reason] { return counter }
        let counter = registry.counter(
            "apus_dead_letters_total", help: "Messages that became dead letters, by reason.",
            labels: [.init("reason", DeadLetterLabel.label(of: reason))])
        if deadLetters.count < 100 { deadLetters[reason] = counter }
        return counter
    }

    func countReduced(_ count: Int, app: Int) { apps[app].reduced.add(count) }

    /// Counts an attempt: by its duration if it was answered, for an outage must not look quick.
    func observe(_ result: AttemptResult, _ apnsID: APNsIdentifier, app: Int, in trace: EventTrace?, at now: WallTime) {
        guard result.outcome.isAnswered else { return apps[app].unanswered.add() }
        apps[app].duration.observe(
            nanoseconds: result.durationNanoseconds, of: .init(high: apnsID.high, low: apnsID.low),
            in: trace.map { trace in
                Exemplar.Trace(
                    traceID: .init(high: trace.context.traceID.high, low: trace.context.traceID.low),
                    spanID: trace.context.spanID.value)
            }, atMilliseconds: now.milliseconds)
    }

    func observe(_ lag: DispatchActions.Lag, at now: WallTime) {
        let nanoseconds = UInt64(clamping: lag.milliseconds) &* 1_000_000
        guard let apnsID = lag.apnsID else { return self.lag.observe(nanoseconds: nanoseconds, count: lag.count) }
        self.lag.observe(
            nanoseconds: nanoseconds, of: .init(high: apnsID.high, low: apnsID.low), atMilliseconds: now.milliseconds)
    }

    /// Brings the counters up to date with the counts.
    func report(_ pushCounts: [PushCounts]) {
        for (index, ledger) in pushCounts.enumerated() where ledger != reported[index] {
            let last = reported[index]
            apps[index].matched.add(ledger.matched - last.matched)
            apps[index].accepted.add(ledger.accepted - last.accepted)
            apps[index].tokenDead.add(ledger.tokenDead - last.tokenDead)
            apps[index].expired.add(ledger.expired - last.expired)
            apps[index].coalesced.add(ledger.coalesced - last.coalesced)
            apps[index].requeuedForRetry.add(ledger.requeuedForRetry - last.requeuedForRetry)
            apps[index].deadLettered.add(ledger.deadLettered - last.deadLettered)
            apps[index].inFlight.set(ledger.inFlight)
            apps[index].unaccounted.set(ledger.unaccounted)
            reported[index] = ledger
        }
    }
}

/// The instruments of large fan-outs.
final class FanOutMetrics {
    let planned: Counter
    let redelivered: Counter
    let planning: Gauge
    let chunksPlanned: Counter
    let chunksServed: Counter
    let chunksCancelled: Counter
    let chunksRepeated: Counter
    let chunksRejected: Counter
    let chunksDelayed: Counter

    init(_ registry: MetricsRegistry) {
        planned = registry.counter(
            "apus_fanouts_planned_total", help: "Large fan-outs that this worker has planned.")
        redelivered = registry.counter(
            "apus_fanouts_redelivered_total",
            help: "Events of large fan-outs that were planned or cancelled before.")
        planning = registry.gauge("apus_fanouts_planning", help: "Large fan-outs that this worker is planning.")
        chunksPlanned = registry.counter(
            "apus_fanout_chunks_planned_total", help: "Chunks of large fan-outs that this worker has planned.")
        func chunks(_ outcome: String) -> Counter {
            registry.counter(
                "apus_fanout_chunks_total",
                help: "Chunks of large fan-outs that this worker has ended, by outcome.",
                labels: [.init("outcome", outcome)])
        }
        chunksServed = chunks("served")
        chunksCancelled = chunks("cancelled")
        chunksRepeated = chunks("repeated")
        chunksRejected = chunks("rejected")
        chunksDelayed = chunks("delayed")
    }
}

/// The label by which dead letters of a reason are counted.
///
/// Reasons are our own words, and what push services answer. Anybody can be the push service of a browser, and a
/// service may change its words, so only documented words are labels by themselves: the number of series is bounded,
/// and no answer takes the label of another reason away.
enum DeadLetterLabel {
    /// The label of all reasons that are none of the others.
    static let other = "other"
    /// How long a word of our own is at most.
    private static let wordBytesMaximum = 40

    private static let documented = Set(
        EventRejection.Reason.allCases.map(\.rawValue) + PushService.allCases.flatMap(\.documentedReasons)
            + SubscriptionProblem.allCases.map(\.rawValue))

    /// The label of a reason.
    ///
    /// - Parameter reason: a word of our own (small letters and hyphens), a documented word of a service, or
    ///   `status-` and a status.
    /// - Returns: the reason itself if it is one of a bounded number, `status-4xx` for a status, else `other`.
    static func label(of reason: String) -> String {
        if documented.contains(reason) { return reason }
        if reason.hasPrefix("status-") {
            let digits = reason.dropFirst("status-".count)
            guard digits.utf8.count == 3, let first = digits.first, "0"..."9" ~= first else { return other }
            return "status-\(first)xx"
        }
        let isOwn = reason.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "-") }
        return isOwn && (1...wordBytesMaximum).contains(reason.utf8.count) ? reason : other
    }
}
