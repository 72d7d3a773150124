import ChangeEvents
import Essentials
import Messages
import Notifications
import Tracing

/// A recorded delivery that has not ended.
struct OpenDelivery: Sendable {
    let context: TraceContext
    private let parent: SpanID?
    private let begun: Moment
    private let delivery: Delivery
    private let identifier: String
    private let type: EventType?
    private let attempt: Int
    private let isBulk: Bool
    /// How many devices were found.
    var deviceCount = 0
    private var links: [TraceContext] = []
    private var coalescedCount = 0
    private var pushCount = 0
    private var acceptedSpanCount = 0
    private var pushSpanCount = 0

    init(
        _ delivery: Delivery, _ event: ChangeEvent, _ retryState: RetryState, context: TraceContext, parent: SpanID?,
        begun: Moment
    ) {
        self.context = context
        self.parent = parent
        self.begun = begun
        self.delivery = delivery
        identifier = event.identifier
        type = event.type
        attempt = retryState.attempt
        isBulk = retryState.isBulk
    }

    /// A delivery that is no event.
    init(_ delivery: Delivery, context: TraceContext, parent: SpanID, begun: Moment) {
        self.context = context
        self.parent = parent
        self.begun = begun
        self.delivery = delivery
        identifier = delivery.message.properties.messageID ?? ""
        type = nil
        attempt = 0
        isBulk = false
    }

    /// The context of the event's sender, which a batch links to; its own if it has no sender.
    var creationContext: TraceContext {
        guard let parent else { return context }
        return TraceContext(traceID: context.traceID, spanID: parent, flags: context.flags, state: context.state)
    }

    mutating func add(link: TraceContext?) {
        coalescedCount += 1
        if let link, links.count < TraceExportRequest.linksMaximum { links.append(link) }
    }

    /// Counts a push, and tells whether it has a span of its own: failures come before successes.
    mutating func mayHaveSpan(_ attempt: PushAttempt) -> Bool {
        pushCount += 1
        guard pushSpanCount < DeliverySpans.pushSpansMaximum else { return false }
        if attempt.disposition == .accepted {
            guard acceptedSpanCount < DeliverySpans.acceptedPushSpansMaximum else { return false }
            acceptedSpanCount += 1
        }
        pushSpanCount += 1
        return true
    }

    // MARK: Spans

    /// The span of the delivery (conventions for RabbitMQ, "Process span").
    func span(endedBy ending: DeliveryEnding, at now: Moment) -> Span {
        let destination = delivery.exchange.isEmpty ? delivery.routingKey : delivery.exchange
        var attributes = [
            SpanAttribute("messaging.system", "rabbitmq"), SpanAttribute("messaging.operation.type", "process"),
            SpanAttribute("messaging.operation.name", "process"),
            SpanAttribute("messaging.destination.name", destinationName),
            SpanAttribute("messaging.rabbitmq.message.delivery_tag", delivery.tag.number),
            SpanAttribute("messaging.message.body.size", delivery.message.body.count),
            SpanAttribute("apus.devices", deviceCount), SpanAttribute("apus.pushes", pushCount),
        ]
        func add(_ key: String, _ value: String) {
            if !value.isEmpty { attributes.append(SpanAttribute(key, value)) }
        }
        func add(_ key: String, unlessZero value: Int) {
            if value > 0 { attributes.append(SpanAttribute(key, value)) }
        }
        add("messaging.rabbitmq.destination.routing_key", delivery.routingKey)
        // A batch has no single message.
        if coalescedCount == 0 { add("messaging.message.id", identifier) }
        add("messaging.batch.message_count", unlessZero: coalescedCount > 0 ? coalescedCount + 1 : 0)
        add("apus.event.type", type?.rawValue ?? "")
        add("apus.attempt", unlessZero: attempt)
        add("apus.push_spans.left_out", unlessZero: pushCount - pushSpanCount)
        if isBulk { attributes.append(SpanAttribute("apus.bulk", .boolean(true))) }
        var status = Span.Status.unset
        switch ending {
        case .settled: break
        case .coalesced: attributes.append(SpanAttribute("apus.coalesced", .boolean(true)))
        case .connectionLost:
            add("error.type", "connection_lost")
            status = .error("the broker delivers it again")
        case .rejected(let reason):
            add("error.type", reason)
            status = .error(reason)
        }
        return Span(
            "process \(destination)", kind: .consumer, context: context, parent: parent,
            isParentRemote: parent != nil, startNanoseconds: startNanoseconds,
            endNanoseconds: nanoseconds(at: now.monotonic), attributes: attributes, links: links, status: status)
    }

    /// `{exchange}:{routing key}`, of which empty parts are left out; the queue is not known here.
    private var destinationName: String {
        [delivery.exchange, delivery.routingKey].filter { !$0.isEmpty }.joined(separator: ":")
    }

    /// The span of an attempt to push (conventions for HTTP, "HTTP client"); without the path, which has the token.
    func span(of attempt: PushAttempt, spanID: SpanID, at now: Moment) -> Span {
        var attributes = [
            SpanAttribute("apus.push.service", attempt.service.rawValue), SpanAttribute("apus.app", attempt.app),
            SpanAttribute("apus.push.id", attempt.apnsID.description),
            SpanAttribute("apus.push.disposition", attempt.disposition.word),
            SpanAttribute("http.request.method", "POST"),
        ]
        if let address = attempt.serverAddress { attributes.append(SpanAttribute("server.address", address)) }
        if attempt.number > 1 {
            attributes.append(SpanAttribute("http.request.resend_count", attempt.number - 1))
        }
        var status = Span.Status.unset
        switch attempt.outcome {
        case .answered(let answer):
            attributes.append(SpanAttribute("http.response.status_code", answer.status))
            if !answer.reason.isEmpty { attributes.append(SpanAttribute("apus.push.reason", answer.reason)) }
            if attempt.disposition != .accepted {
                attributes.append(SpanAttribute("error.type", "\(answer.status)"))
                status = .error(answer.reason)
            }
        case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
            attributes.append(SpanAttribute("error.type", "not_processed"))
            status = .error(reason)
        case .ambiguous(let reason):
            attributes.append(SpanAttribute("error.type", "ambiguous"))
            status = .error(reason)
        }
        let end = nanoseconds(at: now.monotonic)
        let start = end.subtractingReportingOverflow(attempt.durationNanoseconds)
        return child(
            "push \(attempt.service.rawValue)", kind: .client, spanID: spanID,
            startNanoseconds: start.overflow ? 0 : start.partialValue, endNanoseconds: end, attributes, status)
    }

    /// The span of a copy (conventions for RabbitMQ, "Send span"): of the kind *client*, because the copy keeps the
    /// context of the event's sender.
    func span(
        ofCopyTo queue: String, reason: String, outcome: PublishOutcome, spanID: SpanID, begun: MonotonicTime,
        at now: Moment
    ) -> Span {
        var attributes = [
            SpanAttribute("messaging.system", "rabbitmq"), SpanAttribute("messaging.operation.type", "send"),
            SpanAttribute("messaging.operation.name", "publish"), SpanAttribute("messaging.destination.name", queue),
            SpanAttribute("messaging.rabbitmq.destination.routing_key", queue), SpanAttribute("apus.reason", reason),
        ]
        if !identifier.isEmpty { attributes.append(SpanAttribute("messaging.message.id", identifier)) }
        var status = Span.Status.unset
        if let failure = outcome.failure {
            attributes.append(SpanAttribute("error.type", failure.type))
            status = .error(failure.text)
        }
        return child(
            "publish \(queue)", kind: .client, spanID: spanID, startNanoseconds: nanoseconds(at: begun),
            endNanoseconds: nanoseconds(at: now.monotonic), attributes, status)
    }

    private func child(
        _ name: String, kind: Span.Kind, spanID: SpanID, startNanoseconds: UInt64, endNanoseconds: UInt64,
        _ attributes: [SpanAttribute], _ status: Span.Status
    ) -> Span {
        let own = TraceContext(traceID: context.traceID, spanID: spanID, flags: context.flags, state: context.state)
        return Span(
            name, kind: kind, context: own, parent: context.spanID, startNanoseconds: startNanoseconds,
            endNanoseconds: endNanoseconds, attributes: attributes, status: status)
    }

    // MARK: Times

    private var startNanoseconds: UInt64 { UInt64(begun.wall.milliseconds) * 1_000_000 }

    /// A time since 1970: the wall clock of the beginning, and from there the monotonic clock, so that spans of one
    /// delivery lie to each other as they happened.
    private func nanoseconds(at time: MonotonicTime) -> UInt64 {
        let (sum, overflows) = startNanoseconds.addingReportingOverflow(time.nanoseconds(since: begun.monotonic))
        return overflows ? .max : sum
    }
}

extension Disposition {
    /// The consequence in a word, for a span.
    fileprivate var word: String {
        switch self {
        case .accepted: "accepted"
        case .tokenDead: "token-dead"
        case .tokenRejected: "token-rejected"
        case .deadLetter: "dead-letter"
        case .resend: "resend"
        case .resendPossibleDuplicate: "resend-possible-duplicate"
        case .retry(let cause, _): "retry:\(cause.rawValue)"
        case .keyRejected: "key-rejected"
        }
    }
}

extension PublishOutcome {
    /// The kind of the failure, and its text; nil if the broker has the message.
    fileprivate var failure: (type: String, text: String)? {
        switch self {
        case .confirmed: nil
        case .returned(let text): ("returned", text)
        case .refused: ("refused", "the queue takes no messages")
        case .rejected(let text): ("rejected", text)
        }
    }
}
