import ChangeEvents
import DispatchCore
import Messages
import Notifications
import Testing
import Tracing

/// Events with traces, and attempts to push them.
enum TracedEvent {
    /// An event of a dataset, as it was decoded.
    ///
    /// - Parameters:
    ///   - number: the number of its delivery.
    ///   - isSampled: the flag in its sender's context; nil for an event without a context.
    ///   - span: the number of its sender's span.
    ///   - state: the members that vendors have added.
    ///   - identifier: its identifier.
    ///   - isRedelivered: whether the broker may have delivered it before.
    ///   - epoch: the connection that it came by.
    ///   - attempt: how many attempts it has had; more than none make it a retry.
    /// - Returns: the event.
    /// - Throws: a failed requirement, if a number is 0.
    static func make(
        _ number: UInt64, isSampled: Bool?, span: UInt64 = 1, state: String? = nil, identifier: String = "e-1",
        isRedelivered: Bool = false, epoch: UInt32 = 1, attempt: Int64 = 0
    ) throws -> DecodedEvent {
        let headers =
            attempt == 0
            ? []
            : [
                MessageHeader(RetryHeader.attempt, .int64(attempt)),
                MessageHeader(RetryHeader.firstSeenMilliseconds, .int64(1)),
            ]
        var delivery = Samples.delivery(number: number, headers: headers)
        delivery.isRedelivered = isRedelivered
        delivery.tag.epoch = epoch
        if attempt > 0 { delivery.exchange = "" }
        var trace: TraceContext?
        if let isSampled {
            trace = TraceContext(
                traceID: try #require(TraceID(high: 7, low: 9)), spanID: try #require(SpanID(span)),
                flags: isSampled ? .sampled : [], state: state.flatMap { TraceState($0) })
        }
        let key = DatasetKey(
            identityPoolID: "us-east-1:177a950c", identityID: "us-east-1:85f3a6d0", datasetName: "settings")
        let event = ChangeEvent(
            identifier: identifier, source: "/tests", time: nil, trace: trace,
            kind: .dataset(DatasetChange(operation: .changed, key: key, syncCount: 1, deviceID: nil)))
        let retryState = RetryState(of: delivery, nowMilliseconds: 2)
        return DecodedEvent(delivery: delivery, retryState: retryState, event: event, renderings: [])
    }

    /// An attempt that took 30 ms, and was answered.
    static func attempt(status: Int, reason: String = "") -> PushAttempt {
        let outcome = AttemptOutcome.answered(PushAnswer(status: status, reason: reason))
        return PushAttempt(
            service: .apns, app: "chat", apnsID: APNsIdentifier(high: 1, low: 2), outcome: outcome,
            disposition: Disposition(outcome, of: .apns), durationNanoseconds: 30_000_000)
    }
}

extension DeliverySpans {
    /// The event was decoded.
    mutating func received(_ event: DecodedEvent, at milliseconds: Int64) -> EventTrace? {
        deliveryReceived(event.delivery, event.event, event.retryState, at: Samples.moment(milliseconds))
    }
}

extension Span {
    /// The attributes that are texts.
    var texts: [String: String] {
        attributes.reduce(into: [:]) { texts, attribute in
            if case .string(let text) = attribute.value { texts[attribute.key] = text }
        }
    }

    /// The attributes that are whole numbers.
    var numbers: [String: Int64] {
        attributes.reduce(into: [:]) { numbers, attribute in
            if case .integer(let number) = attribute.value { numbers[attribute.key] = number }
        }
    }
}
