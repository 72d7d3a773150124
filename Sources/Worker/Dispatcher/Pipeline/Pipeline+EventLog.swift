import ChangeEvents
import DispatchCore
import Messages
import Metrics
import Notifications
import RegistryCore
import StructuredLogging
import Tracing

/// The log of single events and their outcomes.
extension Pipeline {
    /// Counts an event and logs its outcome once, at the level `debug`: `event.handled` for one from a backend,
    /// `event.retried` for a requeued copy.
    func report(_ report: EventReport) {
        let event = report.event
        metrics.countEvent(event.type, PipelineMetrics.EventOutcome(report))
        // A page of a large fan-out is no event; that it was planned has been said.
        guard !event.isPage else { return }
        guard event.retryState.isRequeuedCopy else {
            if event.event.time == nil { metrics.eventsUntimed.add() }
            return logger.log(.debug, "event.handled", fields(of: report))
        }
        logger.log(.debug, "event.retried", fields(of: report) + [.field("attempt", event.retryState.attempt)])
    }

    /// The same for a message that cannot be acted on, or needs no action, and may not be known to be an event.
    func report(_ message: Message, _ outcome: PipelineMetrics.EventOutcome, _ rejection: EventRejection) {
        metrics.countEvent(nil, outcome)
        logger.log(
            .debug, "event.handled",
            fields(of: message) + [
                .field("outcome", outcome.rawValue), .field("reason", rejection.reason.rawValue),
                .field("detail", rejection.message),
            ])
    }

    /// Reports events that were published with headers of Apus' own: each is counted, the first logged.
    func reportIgnoredHeaders(of delivery: Delivery) {
        metrics.headersIgnored.add()
        guard !hasReportedIgnoredHeaders else { return }
        hasReportedIgnoredHeaders = true
        logger.log(
            .warning, "event.headers-ignored",
            fields(of: delivery.message) + [
                .field("exchange", delivery.exchange),
                .field("advice", "Publish without headers that begin with \(RetryHeader.prefix): Apus ignores them."),
            ])
    }

    /// Counts and tells of devices that a push could not be for, though it was for others.
    func reportLeftOut(_ event: DecodedEvent, _ count: Int, isWhole: Bool) {
        guard case .push(let push) = event.event.kind else { return }
        metrics.countWithoutToken(app: push.app, kind: push.tokenKind, count)
        guard !isWhole else { return }
        logger.log(
            .info, "push.without-token",
            [
                .field("app", push.app), .field("kind", push.tokenKind.rawValue),
                .field("source", event.event.source), .field("id", event.event.identifier),
                .field("devices", count),
            ])
    }

    /// Tells that an event came again with another content: its publisher uses an identity twice.
    func reportOtherContent(_ event: DecodedEvent) {
        logger.log(
            .warning, "event.identity-reused",
            fields(of: event.delivery.message) + [
                .field("advice", "It was not pushed: give each event an id of its own.")
            ])
    }

    /// Tells that events are not remembered, or not for as long as they should be.
    func reportMemory(failing error: RegistryError) {
        metrics.registryFailures.add()
        logger.log(
            .warning, "events.not-remembered",
            [
                .field("code", error.code.rawValue), .field("reason", error.message),
                .field("advice", "Events that come again are pushed again meanwhile; none is lost."),
            ])
    }

    /// Which event a message is: its source, identifier, type and app, as far as they can be read.
    func fields(of message: Message) -> [LogField] {
        let outline = decoder.outline(of: message)
        var fields: [LogField] = [
            .field("source", outline.source ?? "-"), .field("id", outline.identifier ?? "-"),
            .field("type", outline.type ?? "-"),
        ]
        if let app = outline.app { fields.append(.field("app", app)) }
        if let trace = outline.trace { fields.append(.field("trace_id", trace.traceID.description)) }
        return fields
    }

    private func fields(of report: EventReport) -> [LogField] {
        let trace = report.event.trace.map { [LogField.field("trace_id", $0.context.traceID.description)] } ?? []
        return [
            .field("source", report.event.event.source), .field("id", report.event.event.identifier),
            .field("type", report.event.type.rawValue), .field("outcome", report.fate.rawValue),
            .field("app", apps(of: report).joined(separator: ",")), .field("devices", report.deviceCount),
        ] + trace
    }

    /// The apps among the devices of an event; if it has none, the apps that it is for, as far as it says so.
    private func apps(of report: EventReport) -> [String] {
        guard report.renderings.isEmpty else {
            return report.renderings.reduce(into: []) { apps, rendering in
                if !apps.contains(rendering.app.name) { apps.append(rendering.app.name) }
            }
        }
        return machine.renderer.routeIndices(ofFlow: report.event.flowName).reduce(into: []) { apps, index in
            guard let name = machine.renderer.route(at: index)?.name, !apps.contains(name) else { return }
            apps.append(name)
        }
    }
}

extension PipelineMetrics.EventOutcome {
    /// The outcome that an event is counted under.
    init(_ report: EventReport) {
        self =
            switch report.fate {
            case .matched, .deferred: .dispatched
            case .unmatched: .unmatched
            case .coalesced: .coalesced
            case .repeated: .repeated
            // An event whose pushes are too late was dispatched; the pushes are counted as expired.
            case .expired: report.deviceCount > 0 ? .dispatched : .expired
            }
    }
}
