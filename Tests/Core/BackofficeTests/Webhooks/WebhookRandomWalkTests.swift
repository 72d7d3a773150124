import Backoffice
import ChangeEvents
import Essentials
import Messages
import PushTestKit
import Testing

/// A broker, a backend and a machine between them, which meet every fault in a random order.
private struct WebhookWorld {
    private static let prefetch = 6
    private static let requestsMaximum = 3

    private var random: SeededGenerator
    private var machine = WebhookMachine(requestsMaximum: requestsMaximum)
    private var now = Moment(wall: WallTime(milliseconds: 1_700_000_000_000), monotonic: .init(nanoseconds: 0))
    private var epoch: UInt32 = 1
    private var nextNumber: UInt64 = 1
    /// The messages in the queue, with the headers of their copies.
    private var queue: [Message] = []
    /// The deliveries without acknowledgement.
    private var unacknowledged: [DeliveryTag: Message] = [:]
    private var underWay: [DeliveryTag] = []
    private var copies: [(tag: DeliveryTag, message: Message)] = []
    /// The outcomes that have ended for good.
    private(set) var ended: Set<String> = []
    /// The outcomes that an acknowledgement has lost; always empty.
    private(set) var lost: [String] = []
    private var confirmed: Set<DeliveryTag> = []
    private var finished: Set<DeliveryTag> = []

    init(seed: UInt64, outcomeCount: Int) {
        random = SeededGenerator(seed: seed)
        queue = (0..<outcomeCount).map { number in
            var message = Message(body: Array(#"{"outcome":"accepted"}"#.utf8))
            message.properties.messageID = "\(number)"
            message.properties.timestampSeconds = 1_700_000_000
            return message
        }
        machine.consumptionBegan(epoch: epoch)
    }

    var isEmpty: Bool { queue.isEmpty && unacknowledged.isEmpty }

    /// Does one random thing; at the end of the walk only what leads to an end.
    mutating func step(isCalm: Bool) {
        switch Int.random(in: 0..<(isCalm ? 4 : 7), using: &random) {
        case 0: deliver()
        case 1: answer(isCalm: isCalm)
        case 2: endCopy(isTaken: isCalm || Bool.random(using: &random))
        case 3: pass(milliseconds: UInt64.random(in: 0...120_000, using: &random))
        case 4: answer(isCalm: isCalm)
        case 5: endCopy(isTaken: Bool.random(using: &random))
        default: if Int.random(in: 0..<10, using: &random) == 0 { reconnect() }
        }
    }

    private mutating func deliver() {
        let count = min(Self.prefetch - unacknowledged.count, queue.count)
        guard count > 0 else { return }
        let jobs = queue.prefix(count).map { message in
            let tag = DeliveryTag(epoch: epoch, number: nextNumber)
            nextNumber += 1
            unacknowledged[tag] = message
            return WebhookJob(
                Delivery(
                    tag: tag, deliveryClass: .interactive, isRedelivered: false, exchange: "", routingKey: "",
                    message: message), at: now)
        }
        queue.removeFirst(count)
        machine.received(jobs)
        advance()
    }

    private mutating func answer(isCalm: Bool) {
        guard let index = underWay.indices.randomElement(using: &random) else { return }
        let tag = underWay.remove(at: index)
        let answers: [WebhookAnswer] = [
            .taken, .refused(status: 500), .failed(reason: "late"), .busy(status: 503, retryAfterSeconds: 30),
        ]
        let answer = isCalm ? .taken : answers[Int.random(in: 0..<4, using: &random)]
        if answer == .taken { finished.insert(tag) }
        perform(machine.answered(tag, answer, at: now))
        advance()
    }

    private mutating func endCopy(isTaken: Bool) {
        guard let index = copies.indices.randomElement(using: &random) else { return }
        let (tag, message) = copies.remove(at: index)
        if isTaken {
            confirmed.insert(tag)
            // The wait of the retry queue is left out.
            queue.append(message)
        }
        perform(machine.copyEnded(tag, isTaken: isTaken, at: now))
        advance()
    }

    private mutating func reconnect() {
        epoch += 1
        queue += unacknowledged.values
        unacknowledged = [:]
        machine.consumptionBegan(epoch: epoch)
        advance()
    }

    private mutating func pass(milliseconds: UInt64) {
        now = Moment(
            wall: now.wall.advanced(byMilliseconds: Int64(milliseconds)),
            monotonic: now.monotonic.advanced(byMilliseconds: milliseconds))
        advance()
    }

    private mutating func advance() {
        perform(machine.advance(at: now).actions)
        if machine.requestCount > Self.requestsMaximum { lost.append("too many requests at once") }
    }

    private mutating func perform(_ actions: [WebhookMachine.Action]) {
        for action in actions {
            switch action {
            case .post(let job): underWay.append(job.tag)
            case .copy(let tag, let message, _): copies.append((tag, message))
            case .settle(let tag):
                let message = unacknowledged.removeValue(forKey: tag)
                if !finished.contains(tag), !confirmed.contains(tag) { lost.append("\(tag)") }
                if let message, finished.contains(tag) { ended.insert(message.properties.messageID ?? "") }
            case .drop(let job, _): lost.append("dropped \(job.tag)")
            case .stopConsuming: lost.append("stopped")
            }
        }
    }
}

@Suite("The machine of a webhook, whatever happens in whichever order")
struct WebhookRandomWalkTests {
    @Test(
        "Every outcome is taken in the end, and none is acknowledged before it was taken or copied", arguments: 0..<60)
    func nothingIsLost(seed: UInt64) {
        var world = WebhookWorld(seed: seed, outcomeCount: 40)
        for _ in 0..<800 { world.step(isCalm: false) }
        for _ in 0..<5_000 where !world.isEmpty { world.step(isCalm: true) }
        #expect(world.lost == [], "seed \(seed)")
        #expect(world.isEmpty && world.ended.count == 40, "seed \(seed)")
    }
}
