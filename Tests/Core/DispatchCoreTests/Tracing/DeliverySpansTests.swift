import ChangeEvents
import Essentials
import Notifications
import Testing
import Tracing

@testable import DispatchCore

@Suite("The spans of deliveries")
struct DeliverySpansTests {
    private var spans = DeliverySpans(sampler: Sampler(.alwaysOn, isParentBased: true), seed: 1)

    private static func trace(
        of event: DecodedEvent, in spans: inout DeliverySpans, at milliseconds: Int64
    ) throws -> EventTrace {
        let trace = spans.received(event, at: milliseconds)
        return try #require(trace)
    }

    @Test("A delivery of an event with a sender is a part of the sender's span, and says what the conventions ask for")
    mutating func process() throws {
        let event = try TracedEvent.make(1, isSampled: true, state: "a=1")
        let trace = try Self.trace(of: event, in: &spans, at: 1_000)
        #expect(trace.isRecorded && trace.context.isSampled && trace.context.state?.text == "a=1")
        spans.devicesFound(event.delivery.tag, count: 2)
        spans.deliveryEnded(event.delivery.tag, .settled, at: Samples.moment(1_250))
        let span = try #require(spans.takeFinished().first)
        let sender = try #require(event.event.trace)
        #expect(span.context == trace.context && span.context.traceID == sender.traceID)
        #expect(span.parent == sender.spanID && span.isParentRemote && span.context.spanID != sender.spanID)
        #expect(span.name == "process apus.changes" && span.kind == .consumer && span.status == .unset)
        #expect(span.startNanoseconds == 1_000_000_000 && span.endNanoseconds == 1_250_000_000)
        #expect(
            span.texts == [
                "messaging.system": "rabbitmq", "messaging.operation.type": "process",
                "messaging.operation.name": "process", "messaging.destination.name": "apus.changes:a.b",
                "messaging.rabbitmq.destination.routing_key": "a.b", "messaging.message.id": "e-1",
                "apus.event.type": "dataset.changed",
            ])
        #expect(
            span.numbers == [
                "messaging.rabbitmq.message.delivery_tag": 1, "messaging.message.body.size": 2, "apus.devices": 2,
                "apus.pushes": 0,
            ])
        #expect(spans.takeFinished().isEmpty && spans.openCount == 0)
    }

    @Test("An event that is not recorded makes no span, and its sender's context is handed on as it came")
    mutating func unrecorded() throws {
        let event = try TracedEvent.make(1, isSampled: false)
        let trace = try Self.trace(of: event, in: &spans, at: 0)
        #expect(trace == EventTrace(passedOn: try #require(event.event.trace)))
        var never = DeliverySpans(sampler: Sampler(.alwaysOff, isParentBased: true), seed: 1)
        #expect(never.received(try TracedEvent.make(2, isSampled: nil), at: 0) == nil)
        // A caller that calls all the same does no harm.
        spans.devicesFound(event.delivery.tag, count: 1)
        spans.pushEnded(event.delivery.tag, TracedEvent.attempt(status: 200), at: Samples.moment(1))
        spans.copyPublished(
            event.delivery.tag, to: "q", reason: "r", outcome: .confirmed, begun: Samples.monotonic(1),
            at: Samples.moment(2))
        spans.deliveryEnded(event.delivery.tag, .settled, at: Samples.moment(3))
        #expect(spans.takeFinished().isEmpty && spans.openCount == 0)
    }

    @Test("All deliveries of an event without a sender share one trace, whichever worker gets them")
    mutating func derived() throws {
        var others = DeliverySpans(sampler: Sampler(.alwaysOn, isParentBased: true), seed: 2)
        let first = try TracedEvent.make(1, isSampled: nil)
        let root = try Self.trace(of: first, in: &spans, at: 0)
        spans.deliveryEnded(first.delivery.tag, .settled, at: Samples.moment(1))
        let rootSpan = try #require(spans.takeFinished().first)
        #expect(rootSpan.parent == nil && !rootSpan.isParentRemote)
        for event in [
            try TracedEvent.make(2, isSampled: nil, isRedelivered: true),
            try TracedEvent.make(3, isSampled: nil, attempt: 2),
        ] {
            let later = try Self.trace(of: event, in: &others, at: 2)
            others.deliveryEnded(event.delivery.tag, .settled, at: Samples.moment(3))
            let span = try #require(others.takeFinished().first)
            #expect(later.context.traceID == root.context.traceID && span.parent == root.context.spanID)
            #expect(later.context.spanID != root.context.spanID && span.isParentRemote)
        }
        let other = try TracedEvent.make(4, isSampled: nil, identifier: "e-2")
        #expect(spans.received(other, at: 4)?.context.traceID != root.context.traceID)
    }

    @Test("Every worker records the same events at a ratio, and retries like first deliveries")
    func ratio() throws {
        var recorded = 0
        for number in 1...400 {
            let decisions = try [1, 2, 3].map { seed in
                var spans = DeliverySpans(sampler: Sampler(.ratio(0.25), isParentBased: true), seed: UInt64(seed))
                let event = try TracedEvent.make(
                    1, isSampled: nil, identifier: "e-\(number)", attempt: seed == 3 ? 1 : 0)
                return spans.received(event, at: 0)?.isRecorded ?? false
            }
            #expect(Set(decisions).count == 1)
            recorded += decisions[0] ? 1 : 0
        }
        #expect((60...140).contains(recorded))
    }

    @Test("An attempt to push is a part of the delivery, with the answer and its consequence, and no token")
    mutating func push() throws {
        let event = try TracedEvent.make(1, isSampled: true)
        let tag = event.delivery.tag
        let trace = try Self.trace(of: event, in: &spans, at: 1_000)
        var attempt = TracedEvent.attempt(status: 429, reason: "TooManyRequests")
        attempt.serverAddress = "api.push.apple.com"
        attempt.number = 2
        spans.pushEnded(tag, attempt, at: Samples.moment(1_100))
        attempt.outcome = .ambiguous("the deadline passed")
        attempt.disposition = .resendPossibleDuplicate
        spans.pushEnded(tag, attempt, at: Samples.moment(1_200))
        let finished = spans.takeFinished()
        let span = try #require(finished.first)
        #expect(span.name == "push apns" && span.kind == .client && span.status == .error("TooManyRequests"))
        #expect(span.parent == trace.context.spanID && !span.isParentRemote)
        #expect(span.context.traceID == trace.context.traceID && span.context.isSampled)
        // The attempt took 30 ms.
        #expect(span.startNanoseconds == 1_070_000_000 && span.endNanoseconds == 1_100_000_000)
        #expect(
            span.texts == [
                "apus.push.service": "apns", "apus.app": "chat", "apus.push.id": attempt.apnsID.description,
                "apus.push.disposition": "retry:throttled", "http.request.method": "POST",
                "server.address": "api.push.apple.com", "apus.push.reason": "TooManyRequests", "error.type": "429",
            ])
        #expect(span.numbers == ["http.request.resend_count": 1, "http.response.status_code": 429])
        #expect(finished.last?.texts["error.type"] == "ambiguous")
        #expect(finished.last?.status == .error("the deadline passed"))
        #expect(Set(finished.map(\.context.spanID)).count == 2)
    }

    @Test("Of a large delivery few accepted pushes have spans, failures rather, and all are counted")
    mutating func manyPushes() throws {
        let event = try TracedEvent.make(1, isSampled: true)
        let tag = event.delivery.tag
        _ = spans.received(event, at: 0)
        for _ in 0..<500 { spans.pushEnded(tag, TracedEvent.attempt(status: 200), at: Samples.moment(1)) }
        #expect(spans.takeFinished().count == DeliverySpans.acceptedPushSpansMaximum)
        for _ in 0..<500 { spans.pushEnded(tag, TracedEvent.attempt(status: 410), at: Samples.moment(1)) }
        let failures = spans.takeFinished()
        #expect(failures.count == DeliverySpans.pushSpansMaximum - DeliverySpans.acceptedPushSpansMaximum)
        #expect(failures.allSatisfy { $0.texts["apus.push.disposition"] == "token-dead" })
        spans.deliveryEnded(tag, .settled, at: Samples.moment(2))
        let numbers = spans.takeFinished().first?.numbers
        #expect(numbers?["apus.pushes"] == 1_000 && numbers?["apus.push_spans.left_out"] == 1_000 - 128)
    }

    @Test("A copy that is published is a part of the delivery, and says if no queue took it")
    mutating func copies() throws {
        let event = try TracedEvent.make(1, isSampled: true)
        let tag = event.delivery.tag
        _ = spans.received(event, at: 1_000)
        for outcome in [PublishOutcome.confirmed, .returned("NO_ROUTE"), .refused, .rejected("too large")] {
            spans.copyPublished(
                tag, to: "apus.retry.1m", reason: "throttled", outcome: outcome, begun: Samples.monotonic(1_010),
                at: Samples.moment(1_020))
        }
        let finished = spans.takeFinished()
        let span = try #require(finished.first)
        #expect(span.name == "publish apus.retry.1m" && span.kind == .client && span.status == .unset)
        #expect(span.startNanoseconds == 1_010_000_000 && span.endNanoseconds == 1_020_000_000)
        #expect(
            span.texts == [
                "messaging.system": "rabbitmq", "messaging.operation.type": "send",
                "messaging.operation.name": "publish", "messaging.destination.name": "apus.retry.1m",
                "messaging.rabbitmq.destination.routing_key": "apus.retry.1m", "messaging.message.id": "e-1",
                "apus.reason": "throttled",
            ])
        #expect(finished.map { $0.texts["error.type"] } == [nil, "returned", "refused", "rejected"])
    }

    @Test("Events that another one's pushes tell are its links, recorded or not, and it is a batch then")
    mutating func coalesced() throws {
        let last = try TracedEvent.make(1, isSampled: true)
        let recorded = try TracedEvent.make(2, isSampled: true, span: 2)
        let unrecorded = try TracedEvent.make(3, isSampled: false, span: 3)
        let untraced = DeliveryTag(epoch: 1, number: 4)
        var traces: [EventTrace?] = []
        for event in [last, recorded, unrecorded] {
            traces.append(spans.received(event, at: 0))
        }
        let tag = last.delivery.tag
        spans.eventCoalesced(recorded.delivery.tag, trace: traces[1], into: tag, at: Samples.moment(5))
        spans.eventCoalesced(unrecorded.delivery.tag, trace: traces[2], into: tag, at: Samples.moment(5))
        spans.eventCoalesced(untraced, trace: nil, into: tag, at: Samples.moment(5))
        spans.deliveryEnded(tag, .settled, at: Samples.moment(9))
        let finished = spans.takeFinished()
        #expect(finished.map(\.endNanoseconds) == [5_000_000, 9_000_000])
        #expect(finished.first?.attributes.contains(SpanAttribute("apus.coalesced", .boolean(true))) == true)
        let span = try #require(finished.last)
        #expect(span.links == [recorded, unrecorded].compactMap(\.event.trace))
        #expect(span.numbers["messaging.batch.message_count"] == 4 && span.texts["messaging.message.id"] == nil)
    }

    @Test("A delivery that is no event has a span that says why, if it names a trace that is recorded")
    mutating func rejected() throws {
        let event = try TracedEvent.make(1, isSampled: true)
        let trace = try #require(event.event.trace)
        spans.deliveryRejected(event.delivery, trace: trace, reason: "invalid-field", at: Samples.moment(7))
        let span = try #require(spans.takeFinished().first)
        #expect(span.status == .error("invalid-field") && span.texts["error.type"] == "invalid-field")
        #expect(span.parent == trace.spanID && span.context.traceID == trace.traceID)
        spans.deliveryRejected(event.delivery, trace: nil, reason: "invalid-json", at: Samples.moment(7))
        let unsampled = try #require(try TracedEvent.make(1, isSampled: false).event.trace)
        spans.deliveryRejected(event.delivery, trace: unsampled, reason: "invalid-json", at: Samples.moment(7))
        #expect(spans.takeFinished().isEmpty)
    }

    @Test("When the connection is lost the spans of its deliveries end, and those of the next one go on")
    mutating func sourceLost() throws {
        var events = try [1, 2, 3].map { try TracedEvent.make($0, isSampled: true) }
        events[2] = try TracedEvent.make(1, isSampled: true, epoch: 2)
        for event in events { _ = spans.received(event, at: 1) }
        spans.sourceLost(before: 2, at: Samples.moment(5))
        let finished = spans.takeFinished()
        #expect(finished.map { $0.texts["error.type"] } == ["connection_lost", "connection_lost"])
        #expect(finished.allSatisfy { $0.endNanoseconds == 5_000_000 } && spans.openCount == 1)
        spans.sourceLost(before: .max, at: Samples.moment(6))
        #expect(spans.openCount == 0)
    }

    @Test("No more deliveries are recorded at once than the bound says")
    mutating func bound() throws {
        for number in 1...DeliverySpans.openMaximum + 10 {
            let event = try TracedEvent.make(UInt64(number), isSampled: true)
            let trace = try Self.trace(of: event, in: &spans, at: 0)
            #expect(trace.isRecorded == (number <= DeliverySpans.openMaximum))
        }
        #expect(spans.openCount == DeliverySpans.openMaximum)
        spans.deliveryEnded(DeliveryTag(epoch: 1, number: 5), .rejected(reason: "too-large"), at: Samples.moment(1))
        #expect(spans.takeFinished().first?.status == .error("too-large"))
        let next = try TracedEvent.make(9_999, isSampled: true)
        #expect(spans.received(next, at: 2)?.isRecorded == true)
    }
}
