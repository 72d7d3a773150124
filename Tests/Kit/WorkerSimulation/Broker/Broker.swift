import ChangeEvents
import Messages

/// RabbitMQ as far as a worker sees it: quorum queues of work and fan-outs, retry queues, dead letters.
///
/// Acknowledged messages are gone. Deliveries of a lost connection come again, in any order, until they have been
/// returned too often. Messages in a retry queue go back to the work queue when their time has come.
struct Broker {
    struct Stored {
        var message: Message
        var exchange: String
        var routingKey: String
        var event: Int
        var returnCount = 0
        /// When a retry queue hands it over, or the work queue drops it.
        var dueNanoseconds: UInt64 = .max
    }

    struct Queue {
        enum Kind {
            case work
            case fanOut
            case retry(nanoseconds: UInt64)
            case deadLetter
        }

        var name: String
        var kind: Kind
        var ready = Line<UInt32>()
        /// Whether the queue exists: publishes to a missing one are returned.
        var isThere = true
        /// Whether it elects a leader: then it hands nothing out and confirms nothing.
        var isElecting = false
    }

    /// The state of a worker's connection.
    struct Channel {
        var epoch: UInt32
        var nextTag: UInt64 = 1
        /// The least number that may be unacknowledged.
        var frontier: UInt64 = 1
        var unacknowledged: [UInt64: (queue: Int, message: UInt32)] = [:]
        /// How many of each kind of queue are unacknowledged.
        var workCount = 0
        var fanOutCount = 0
    }

    static let returnsMaximum = 20
    static let fanOutPrefetch = 4
    static let exchange = "apus.changes"

    let prefetch: Int
    let workQueueCount: Int
    private(set) var queues: [Queue]
    private var messages = Slots<Stored>()
    private(set) var channels: [Channel?]
    private var queueOfName: [String: Int] = [:]
    /// Whether publishers are blocked, because memory or disk runs short.
    var isBlocked = false
    /// The largest message that is taken, in bytes of its body and the devices that its headers name.
    var messageBytesMaximum = Int.max

    init(workerCount: Int, workQueueCount: Int, prefetch: Int, retryDelaysMilliseconds: [Int64]) {
        self.workQueueCount = workQueueCount
        self.prefetch = prefetch
        channels = Array(repeating: nil, count: workerCount)
        queues = (0..<workQueueCount).map { Queue(name: $0 == 0 ? "apus.work" : "apus.work.\($0 + 1)", kind: .work) }
        queues.append(Queue(name: Self.fanOutName, kind: .fanOut))
        for delay in retryDelaysMilliseconds {
            queues.append(
                Queue(name: Self.retryName(delay), kind: .retry(nanoseconds: UInt64(delay) * 1_000_000)))
        }
        queues.append(Queue(name: Self.deadLetterName, kind: .deadLetter))
        for (index, queue) in queues.enumerated() { queueOfName[queue.name] = index }
    }

    static let fanOutName = "apus.fanout"
    static let deadLetterName = "apus.dead-letter"
    static func retryName(_ delayMilliseconds: Int64) -> String { "apus.retry.\(delayMilliseconds)" }

    /// The queue of a name; nil if there is none such.
    func queue(named name: String) -> Int? { queueOfName[name] }

    /// The number of its messages, including delivered ones.
    var messageCount: Int { messages.count }

    /// The queues with waiting messages, for the report at the end.
    var backlog: [(name: String, count: Int)] {
        queues.filter { !$0.ready.isEmpty }.map { ($0.name, $0.ready.count) }
    }

    /// How many messages wait for workers, in the work queues and the fan-out queue.
    var waitingCount: Int {
        queues.reduce(0) { count, queue in
            switch queue.kind {
            case .work, .fanOut: count + queue.ready.count
            case .retry, .deadLetter: count
            }
        }
    }

    mutating func setThere(_ isThere: Bool, queue: Int) { queues[queue].isThere = isThere }

    mutating func setElecting(_ isElecting: Bool, queue: Int) { queues[queue].isElecting = isElecting }

    // MARK: Publishing

    /// A queue takes a message.
    ///
    /// - Returns: when the queue has something to hand over by itself, if that is news.
    mutating func enqueue(_ stored: Stored, queue: Int, atNanoseconds now: UInt64) -> UInt64? {
        var stored = stored
        var due: UInt64?
        if case .retry(let delay) = queues[queue].kind {
            stored.dueNanoseconds = now + delay
            if queues[queue].ready.isEmpty { due = stored.dueNanoseconds }
        }
        queues[queue].ready.append(messages.insert(stored))
        return due
    }

    /// Moves messages that have waited long enough in a retry queue to the first work queue.
    ///
    /// - Parameters:
    ///   - queue: the retry queue.
    ///   - now: the time.
    ///   - isRepeated: whether a message is handed over a second time, because the queue has lost its leader.
    /// - Returns: the events of messages that are there twice now, and when the queue hands over next.
    mutating func handOver(
        _ queue: Int, atNanoseconds now: UInt64, isRepeated: () -> Bool
    ) -> (repeated: [Int], nextNanoseconds: UInt64?) {
        var repeated: [Int] = []
        while let first = queues[queue].ready.first, var stored = messages[first] {
            guard stored.dueNanoseconds <= now else { return (repeated, stored.dueNanoseconds) }
            _ = queues[queue].ready.popFirst()
            stored.exchange = ""
            stored.routingKey = queues[0].name
            stored.dueNanoseconds = .max
            stored.returnCount = 0
            messages[first] = stored
            queues[0].ready.append(first)
            if isRepeated() {
                queues[0].ready.append(messages.insert(stored))
                repeated.append(stored.event)
            }
        }
        return (repeated, nil)
    }

    // MARK: Consuming

    mutating func open(_ worker: Int, epoch: UInt32) { channels[worker] = Channel(epoch: epoch) }

    /// Whether a worker may be handed something out now.
    func hasWork(for worker: Int) -> Bool {
        guard let channel = channels[worker] else { return false }
        return queues[...workQueueCount].contains { queue in
            guard !queue.ready.isEmpty, !queue.isElecting else { return false }
            if case .work = queue.kind { return channel.workCount < prefetch }
            return channel.fanOutCount < Self.fanOutPrefetch
        }
    }

    /// Hands out deliveries to a worker.
    ///
    /// - Parameters:
    ///   - worker: the worker.
    ///   - maximum: the most of them.
    ///   - now: the time.
    ///   - dropped: called with each message whose time to live has passed in the queue.
    /// - Returns: the deliveries.
    mutating func deliver(
        to worker: Int, maximum: Int, atNanoseconds now: UInt64, dropped: (Stored) -> Void
    ) -> [Delivery] {
        guard var channel = channels[worker] else { return [] }
        channels[worker] = nil
        defer { channels[worker] = channel }
        var deliveries: [Delivery] = []
        for queue in 0...workQueueCount where !queues[queue].isElecting {
            let isWork = queue < workQueueCount
            while deliveries.count < maximum,
                isWork ? channel.workCount < prefetch : channel.fanOutCount < Self.fanOutPrefetch,
                let number = queues[queue].ready.popFirst()
            {
                guard let stored = messages[number] else { continue }
                guard stored.dueNanoseconds > now else {
                    _ = messages.remove(number)
                    dropped(stored)
                    continue
                }
                if isWork { channel.workCount += 1 } else { channel.fanOutCount += 1 }
                channel.unacknowledged[channel.nextTag] = (queue, number)
                deliveries.append(
                    Delivery(
                        tag: DeliveryTag(epoch: channel.epoch, number: channel.nextTag),
                        deliveryClass: isWork ? .interactive : .bulk, isRedelivered: stored.returnCount > 0,
                        exchange: stored.exchange, routingKey: stored.routingKey, message: stored.message))
                channel.nextTag += 1
            }
        }
        return deliveries
    }

    /// An acknowledgement arrived.
    ///
    /// - Returns: the acknowledged messages; nil if the number names no unacknowledged delivery, for which RabbitMQ
    ///   closes the channel.
    mutating func acknowledge(_ worker: Int, epoch: UInt32, number: UInt64, isMultiple: Bool) -> [Stored]? {
        guard var channel = channels[worker], channel.epoch == epoch else { return [] }
        guard channel.unacknowledged[number] != nil else { return nil }
        channels[worker] = nil
        defer { channels[worker] = channel }
        var gone: [Stored] = []
        let first = isMultiple ? channel.frontier : number
        var tag = first
        while tag <= number {
            if let stored = take(tag, &channel) { gone.append(stored) }
            tag += 1
        }
        if first == channel.frontier { channel.frontier = number + 1 }
        return gone
    }

    private mutating func take(_ tag: UInt64, _ channel: inout Channel) -> Stored? {
        guard let (queue, message) = channel.unacknowledged.removeValue(forKey: tag) else { return nil }
        if queue < workQueueCount { channel.workCount -= 1 } else { channel.fanOutCount -= 1 }
        return messages.remove(message)
    }

    /// A rejection arrived: the message becomes a dead letter, unchanged.
    mutating func reject(_ worker: Int, epoch: UInt32, number: UInt64) -> Stored? {
        guard var channel = channels[worker], channel.epoch == epoch else { return nil }
        channels[worker] = nil
        defer { channels[worker] = channel }
        return take(number, &channel)
    }

    /// The connection of a worker is gone: its unacknowledged deliveries come again.
    ///
    /// - Parameters:
    ///   - worker: the worker.
    ///   - reorder: reorders the redeliveries.
    ///   - isInFront: whether it comes before all else.
    /// - Returns: messages that were returned too often and are dead letters now.
    mutating func close(
        _ worker: Int, reorder: (inout [(queue: Int, message: UInt32)]) -> Void, isInFront: Bool
    ) -> [Stored] {
        guard let channel = channels[worker] else { return [] }
        channels[worker] = nil
        var returned = channel.unacknowledged.sorted { $0.key < $1.key }.map(\.value)
        reorder(&returned)
        var dead: [Stored] = []
        for (queue, number) in isInFront ? returned.reversed() : returned {
            messages[number]?.returnCount += 1
            if let stored = messages[number], stored.returnCount > Self.returnsMaximum {
                _ = messages.remove(number)
                dead.append(stored)
            } else if isInFront {
                queues[queue].ready.putInFront(number)
            } else {
                queues[queue].ready.append(number)
            }
        }
        return dead
    }
}

/// A message that a worker has handed to its publisher, and that has no outcome yet.
struct OutgoingPublish {
    var worker: Int
    var generation: Int
    var identifier: UInt64
    var queue: Int?
    var message: Message
    var event: Int
    /// Tells which was handed over before.
    var sequence: UInt64
    /// The connection that carries it; the results of an earlier connection have no effect on the worker.
    var connection: Int
    /// Whether it tells a backend of pushes, which needs no queue.
    var isOutcome = false
    /// Whether the broker has it, so that only the confirm is under way.
    var hasArrived = false
}
