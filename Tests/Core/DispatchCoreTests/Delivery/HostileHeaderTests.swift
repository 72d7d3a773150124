import ChangeEvents
import Essentials
import Messages
import Notifications
import Testing

@testable import DispatchCore

/// Values that a publisher, or a hand in the queues, may write into the headers of Apus.
@Suite("Headers that are not what Apus writes")
struct HostileHeaderTests {
    private static let names = [
        RetryHeader.attempt, RetryHeader.firstSeenMilliseconds, RetryHeader.publishedMilliseconds,
        RetryHeader.heldMilliseconds, RetryHeader.expiresAtMilliseconds, RetryHeader.reason, RetryHeader.detail,
        RetryHeader.devices, RetryHeader.cursor, RetryHeader.cursorSubscription, RetryHeader.fanOut,
        RetryHeader.chunk, RetryHeader.chunkDevices, RetryHeader.through, RetryHeader.throughSubscription,
        RetryHeader.subscriptions, RetryHeader.notifiesOrigin, RetryHeader.originalExchange,
        RetryHeader.originalRoutingKey, RetryHeader.unreadableHeaders, RetryHeader.hops,
    ]
    private static let values: [HeaderValue] = [
        .int64(.min), .int64(.min + 1), .int64(-1), .int64(0), .int64(1 << 62), .int64(.max), .uint64(.max),
        .timestamp(.max), .float64(.infinity), .float64(.nan), .boolean(true), .string("\u{1B}[2J"),
        .bytes([0xFF, 0, 0xFF]), .rawString([0xFF]), .array([.string("a"), .int64(.min), .void]), .void,
    ]
    private static let outcomes: [AttemptOutcome] =
        [200, 400, 403, 404, 410, 413, 429, 500, 503, -1, .max].flatMap { status in
            [Int64.min, -1, .max].map { number in
                .answered(
                    PushAnswer(
                        status: status, reason: status == 400 ? "BadDeviceToken" : "",
                        deadSinceMilliseconds: number, retryAfterSeconds: Int(number)))
            }
        } + [.notProcessed("x"), .ambiguous("x")]
    private static let clocks: [Int64] = [0, 1_769_860_800_000]

    private static func delivery(_ headers: [MessageHeader], exchange: String) -> Delivery {
        var delivery = Samples.delivery(headers: headers)
        delivery.exchange = exchange
        return delivery
    }

    /// Leads a push with that history to its end, in each of the ways that there are, and reads what is requeued again.
    private func play(_ retryState: RetryState, now: Int64) {
        for outcome in Self.outcomes {
            var machine = Samples.machine()
            var actions = DispatchActions()
            machine.jobArrived(Samples.job(devices: [Samples.device("a")], retryState: retryState), into: &actions)
            machine.sendWaiting(at: Samples.moment(now), into: &actions)
            for request in actions.sends {
                let result = AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: 1)
                machine.pushEnded(result, at: Samples.moment(now), into: &actions)
            }
            _ = machine.deferDelivery(
                DeliveryTag(epoch: 1, number: 2), message: Samples.delivery().message, retryState: retryState,
                .congested, at: Samples.moment(now), into: &actions)
            for publish in actions.publishes {
                let copy = Delivery(
                    tag: DeliveryTag(epoch: 1, number: 3), deliveryClass: .interactive, isRedelivered: false,
                    exchange: "",
                    routingKey: "", message: publish.message)
                _ = RetryState(of: copy, nowMilliseconds: now)
                machine.publishEnded(publish.identifier, .confirmed, into: &actions)
            }
        }
    }

    @Test("Any value of any header that Apus reads is bounded: no decision about a push can overflow")
    func extremesOfOwnCopies() {
        for name in Self.names {
            for value in Self.values {
                for now in Self.clocks {
                    let headers = [MessageHeader(name, value)]
                    play(RetryState(of: Self.delivery(headers, exchange: ""), nowMilliseconds: now), now: now)
                }
            }
        }
    }

    @Test("The same number in all headers at once is bounded, too")
    func extremesTogether() {
        for value in Self.values {
            let headers = Self.names.map { MessageHeader($0, value) }
            for now in Self.clocks {
                play(RetryState(of: Self.delivery(headers, exchange: ""), nowMilliseconds: now), now: now)
            }
        }
    }

    @Test("What a publisher sends to an exchange has no history, whatever its headers say, and its copies lose them")
    func headersOfPublishers() {
        for value in Self.values {
            let headers = Self.names.map { MessageHeader($0, value) }
            let delivery = Self.delivery(headers, exchange: "apus.changes")
            let read = RetryState(of: delivery, nowMilliseconds: 7)
            #expect(read.ignoresHeaders)
            #expect(read.attempt == 0 && read.firstSeen == WallTime(milliseconds: 7) && !read.isRequeuedCopy)
            #expect(read.expiresAt == nil && read.deviceIDs == nil && read.cursor == nil && read.chunk == nil)
            let copy = read.requeuedCopy(of: delivery.message, reason: "throttled", detail: "d")
            #expect(copy.header(RetryHeader.firstSeenMilliseconds) == .int64(7))
            #expect(copy.header(RetryHeader.devices) == nil && copy.header(RetryHeader.fanOut) == nil)
        }
        let plain = RetryState(of: Self.delivery([], exchange: "apus.changes"), nowMilliseconds: 7)
        #expect(!plain.ignoresHeaders)
    }

    @Test("A message that the broker moved counts as ours only if each move began at the default exchange")
    func movedByTheBroker() {
        func moved(_ exchanges: HeaderValue...) -> Message {
            let moves = exchanges.map { HeaderValue.table([MessageHeader("exchange", $0)]) }
            return Message(headers: [MessageHeader("x-death", .array(moves))], body: [])
        }
        #expect(Message(body: []).isOwnCopy(publishedTo: ""))
        #expect(!Message(body: []).isOwnCopy(publishedTo: "apus.changes"))
        #expect(moved(.string("")).isOwnCopy(publishedTo: ""))
        #expect(!moved(.string("apus.changes")).isOwnCopy(publishedTo: ""))
        #expect(!moved(.string(""), .string("apus.changes")).isOwnCopy(publishedTo: ""))
        #expect(!moved(.void).isOwnCopy(publishedTo: ""))
        let broken = Message(headers: [MessageHeader("x-death", .string(""))], body: [])
        #expect(!broken.isOwnCopy(publishedTo: ""))
    }

    @Test("A replay keeps the devices that are left only if Apus named them, and begins a new age")
    func replays() {
        let headers = [
            MessageHeader("own", .void),
            MessageHeader(RetryHeader.devices, .array([.string("a")])),
            MessageHeader(RetryHeader.attempt, .int64(10)),
            MessageHeader(RetryHeader.publishedMilliseconds, .int64(1)),
        ]
        var message = Message(headers: headers, body: [])
        message.properties.timestampSeconds = 1
        #expect(message.replayed(publishedTo: "").headers.map(\.name) == ["own", RetryHeader.devices])
        #expect(message.replayed(publishedTo: "apus.changes").headers.map(\.name) == ["own"])
        var delivery = Self.delivery([], exchange: "")
        delivery.message = message.replayed(publishedTo: "")
        #expect(RetryState(of: delivery, nowMilliseconds: 9_000).published == WallTime(milliseconds: 9_000))
    }

    @Test("Age and time to live count from the end of the second that the publisher names, and never from the future")
    func published() {
        func published(_ seconds: UInt64?, now: Int64 = 1_769_860_800_500) -> Int64 {
            var delivery = Samples.delivery()
            delivery.message.properties.timestampSeconds = seconds
            return RetryState(of: delivery, nowMilliseconds: now).published.milliseconds
        }
        #expect(published(nil) == 1_769_860_800_500)
        #expect(published(1_769_860_700) == 1_769_860_700_999)
        #expect(published(1_769_860_800) == 1_769_860_800_500)
        #expect(published(.max) == 1_769_860_800_500)
        #expect(published(0) == 999)
    }
}
