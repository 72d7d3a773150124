import ChangeEvents
import Dispatch
import EventLoop
import Messages
import Notifications
import PushTestKit
import Synchronization

/// The broker and the push service around a pipeline: both answer by the choices of an input, the broker some ticks
/// later.
///
/// It keeps book of what it delivered and of the copies that it was given, and notes the first promise that is broken.
final class FuzzWorld: DeliverySource, MessagePublisher, PushTransport {
    static let fanOutQueue = "apus.fanout"
    static let deadLetterQueue = "apus.dead-letter"
    /// Names the delivery in the copies that are made of it.
    private static let deliveryHeader = "x-fuzz-delivery"
    private static let requeuedMaximum = 64
    private static let statuses = [200, 410, 400, 403, 429, 500, 503, 413, 404, 405, 200, 599, 0]
    private static let reasons = [
        "", "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic", "IdleTimeout",
        "ExpiredProviderToken", "InvalidProviderToken", "TooManyRequests", "TooManyProviderTokenUpdates",
        "InternalServerError", "ServiceUnavailable", "Shutdown", "PayloadTooLarge", "BadTopic", "Strange",
    ]

    private struct State {
        var input: FuzzInput
        var deliveryHandler: (any DeliveryHandler)?
        var early: [Delivery] = []
        var owed: Set<DeliveryTag> = []
        /// The delivery of each copy that was published and that the broker has not confirmed, by the copy's number.
        var unconfirmed: [UInt64: DeliveryTag] = [:]
        /// The deliveries of which the broker takes some copy never.
        var impossible: Set<DeliveryTag> = []
        var lastTag: UInt64 = 0
        var requeued: [(message: Message, deliveryClass: DeliveryClass)] = []
        var failure: String?

        mutating func promise(_ isKept: Bool, _ message: @autoclosure () -> String) {
            if !isKept, failure == nil { failure = message() }
        }
    }

    let clock = ManualClocks()
    /// Where the pipeline lives.
    let loop = Mutex<EventLoop?>(nil)
    let transportHandler = Mutex<(any PushTransportHandler)?>(nil)
    let publishHandler = Mutex<(any PublishHandler)?>(nil)
    private let state: Mutex<State>
    private let changed = DispatchSemaphore(value: 0)

    init(_ input: FuzzInput) { state = Mutex(State(input: input)) }

    // MARK: For the target

    /// The first promise that was broken.
    var failure: String? { state.withLock { $0.failure } }

    /// Delivers messages as one batch; copies of a worker come through the default exchange, whose name is empty.
    func deliver(
        _ messages: [(message: Message, deliveryClass: DeliveryClass)], exchange: String = "",
        isRedelivered: Bool = false
    ) {
        let (handler, deliveries) = state.withLock { state in
            let deliveries = messages.map { message, deliveryClass in
                state.lastTag += 1
                let tag = DeliveryTag(epoch: 1, number: state.lastTag)
                state.owed.insert(tag)
                var message = message
                message.headers.removeAll { $0.name == Self.deliveryHeader }
                message.headers.append(MessageHeader(Self.deliveryHeader, .uint64(tag.number)))
                return Delivery(
                    tag: tag, deliveryClass: deliveryClass, isRedelivered: isRedelivered, exchange: exchange,
                    routingKey: "test",
                    message: message)
            }
            if state.deliveryHandler == nil { state.early += deliveries }
            return (state.deliveryHandler, deliveries)
        }
        handler?.deliveriesReceived(deliveries)
    }

    /// Takes what was requeued for later.
    func takeQueued() -> [(message: Message, deliveryClass: DeliveryClass)] {
        state.withLock { state in
            defer { state.requeued = [] }
            return state.requeued
        }
    }

    /// Waits until nothing is owed to the broker any more, or a promise is broken; false if that takes too long.
    func waitUntilSettled(seconds: Int) -> Bool {
        let deadline = DispatchTime.now() + .seconds(seconds)
        while state.withLock({ !$0.owed.isEmpty && $0.failure == nil }) {
            guard changed.wait(timeout: deadline) == .success else { return false }
        }
        return true
    }

    /// Lets go of the pipeline, which holds this.
    func release() {
        state.withLock { $0.deliveryHandler = nil }
        transportHandler.withLock { $0 = nil }
        publishHandler.withLock { $0 = nil }
        loop.withLock { $0 = nil }
    }

    // MARK: DeliverySource

    func start(handler: any DeliveryHandler) { consume(by: handler) }

    /// Hands over what waits, and from now on what comes.
    func consume(by handler: any DeliveryHandler) {
        handler.sourceStateChanged(.consuming(epoch: 1))
        let early = state.withLock { state in
            state.deliveryHandler = handler
            defer { state.early = [] }
            return state.early
        }
        if !early.isEmpty { handler.deliveriesReceived(early) }
    }

    func settle(_ tags: [DeliveryTag]) {
        state.withLock { state in
            for tag in tags {
                state.promise(
                    !state.unconfirmed.values.contains(tag), "\(tag) is acknowledged before its copy was confirmed")
                state.promise(!state.impossible.contains(tag), "\(tag) is acknowledged without its copy")
            }
            Self.end(tags, &state)
        }
        changed.signal()
    }

    func reject(_ tags: [DeliveryTag]) {
        state.withLock { state in
            // An event that stands for others is the one that is copied.
            state.promise(
                tags.contains { state.impossible.contains($0) }, "\(tags) are rejected, and each copy may be taken")
            Self.end(tags, &state)
        }
        changed.signal()
    }

    private static func end(_ tags: [DeliveryTag], _ state: inout State) {
        for tag in tags { state.promise(state.owed.remove(tag) != nil, "delivery \(tag) was settled twice") }
    }

    func pause() {}
    func resume() {}
    func cancel() async {}
    func close() async {}

    // MARK: MessagePublisher

    func start(handler: any PublishHandler) {}

    func publish(_ messages: [OutgoingMessage]) {
        for message in messages {
            let (outcome, ticks) = state.withLock { state in
                if let tag = Self.delivery(of: message.message) { state.unconfirmed[message.identifier] = tag }
                return (Self.publishOutcome(&state.input), Int(state.input.byte() % 4))
            }
            answer(message, outcome, afterTicks: ticks)
        }
    }

    /// Answers to a copy on the pipeline's loop, after the tick in which it was published and some more.
    private func answer(_ message: OutgoingMessage, _ outcome: PublishOutcome, afterTicks ticks: Int) {
        loop.withLock { $0 }?.submit { [self] in
            guard ticks == 0 else { return answer(message, outcome, afterTicks: ticks - 1) }
            state.withLock { Self.note(message, outcome, &$0) }
            publishHandler.withLock { $0 }?.publishesEnded([(message.identifier, outcome)])
        }
    }

    private static func note(_ message: OutgoingMessage, _ outcome: PublishOutcome, _ state: inout State) {
        switch outcome {
        case .refused, .returned: return
        case .rejected:
            if let tag = state.unconfirmed.removeValue(forKey: message.identifier) { state.impossible.insert(tag) }
        case .confirmed:
            state.unconfirmed[message.identifier] = nil
            guard message.routingKey != deadLetterQueue, state.requeued.count < requeuedMaximum else { return }
            state.requeued.append((message.message, message.routingKey == fanOutQueue ? .bulk : .interactive))
        }
    }

    /// The delivery that a message is a copy of.
    private static func delivery(of message: Message) -> DeliveryTag? {
        guard case .uint64(let number) = message.header(deliveryHeader) else { return nil }
        return DeliveryTag(epoch: 1, number: number)
    }

    private static func publishOutcome(_ input: inout FuzzInput) -> PublishOutcome {
        switch input.byte() % 8 {
        case 5: .refused
        case 6: .returned("NO_ROUTE")
        case 7: .rejected("too large")
        default: .confirmed
        }
    }

    func close(deadlineSeconds: Double) async -> Bool { true }

    // MARK: PushTransport

    func start(handler: any PushTransportHandler) {}

    func send(_ requests: [PushRequest]) {
        let results = state.withLock { state in
            requests.map { request in
                AttemptResult(
                    identifier: request.identifier, outcome: Self.outcome(&state.input), durationNanoseconds: 1_000)
            }
        }
        transportHandler.withLock { $0 }?.pushesEnded(results)
    }

    private static func outcome(_ input: inout FuzzInput) -> AttemptOutcome {
        switch input.byte() % 16 {
        case 14: return .ambiguous("lost")
        case 15: return .notProcessed("refused")
        case let place where place < statuses.count:
            var answer = PushAnswer(status: statuses[Int(place)])
            if answer.status != 200 {
                answer.reason = input.choice(reasons)
                if input.byte() > 127 { answer.deadSinceMilliseconds = input.integer() }
                if input.byte() > 127 { answer.retryAfterSeconds = Int(input.integer().magnitude % 1_000_000_000) }
            }
            return .answered(answer)
        default: return .answered(PushAnswer(status: 200))
        }
    }
}
