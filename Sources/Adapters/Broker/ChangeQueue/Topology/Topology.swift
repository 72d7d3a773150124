public import Messages

/// The exchanges and queues of one namespace, and their comparison with the broker's.
///
/// All queues are quorum queues: replicated, with a time to live per queue and lossless dead-lettering, which in turn
/// requires `reject-publish` for a full queue. The retry queues have one delay each, because a message expires only at
/// the head of its queue: different delays in one queue would wait for each other.
///
/// With several work queues, the events go from the topic exchange to a consistent-hash exchange, and on to one of the
/// queues by a hash of their routing key. The hash takes the routing key, because every publisher gives one, in every
/// format of an event. RabbitMQ sees no header of a structured event, and the attribute `subject` has three names in
/// binary ones. A publisher that wants all events of a dataset in one queue puts the subject into the routing key. With
/// one key for all events, they are all in one queue, and only the gain is lost. The first queue is the one that exists
/// without a hash. So the arguments of the retry queues, which lead to the first queue and which RabbitMQ cannot
/// change, do not depend on the number.
public struct Topology: Hashable, Sendable {
    /// The number of times that a message may come back unacknowledged before the broker dead-letters it.
    ///
    /// Every return counts, also that of a whole prefetch window when a worker dies, so this is generous.
    private static let deliveryLimit: Int64 = 20
    /// The same for dead letters, which come back when the command that collects them is killed.
    ///
    /// In effect no limit, because a letter that reached it would be dropped. But with a limit set, the broker returns
    /// letters to their places rather than to the end, and later versions of RabbitMQ set 20 by default.
    static let deadLetterDeliveryLimit: Int64 = 1_000_000_000

    /// The names.
    public let names: QueueNames
    /// The delays of the retry queues, in milliseconds, ascending and without duplicates.
    public let retryDelaysMilliseconds: [Int64]
    /// Over how many work queues the events are spread.
    public let workQueueCount: Int
    /// Whether workers publish outcomes.
    public let publishesOutcomes: Bool
    /// How many outcomes wait to be counted; nil if none are.
    public let analyticsMessagesMaximum: Int?
    /// The apps whose outcomes are posted to their backends.
    public let webhooks: [WebhookQueue]

    /// Describes a namespace.
    ///
    /// - Parameters:
    ///   - namespace: how all names begin.
    ///   - retryDelaysMilliseconds: one retry queue each; delays that are not positive are left out.
    ///   - workQueueCount: over how many work queues the events are spread, 1 to `QueueNames.workQueuesMaximum`.
    ///   - publishesOutcomes: whether workers publish outcomes.
    ///   - analyticsMessagesMaximum: how many outcomes wait to be counted; nil if none are.
    ///   - webhooks: the apps whose outcomes are posted to their backends.
    public init(
        namespace: String, retryDelaysMilliseconds: [Int64], workQueueCount: Int = 1, publishesOutcomes: Bool = false,
        analyticsMessagesMaximum: Int? = nil, webhooks: [WebhookQueue] = []
    ) {
        self.publishesOutcomes = publishesOutcomes
        self.analyticsMessagesMaximum = analyticsMessagesMaximum
        self.webhooks = webhooks
        names = QueueNames(namespace: namespace)
        self.workQueueCount = min(max(1, workQueueCount), QueueNames.workQueuesMaximum)
        self.retryDelaysMilliseconds = Set(retryDelaysMilliseconds).filter { $0 > 0 }.sorted()
    }

    /// All exchanges and queues, in the order in which they can be made.
    public var objects: [TopologyObject] { exchanges + queues + retryQueues + analyticsQueues + webhookQueues }

    private var exchanges: [TopologyObject] {
        let changes = TopologyObject(
            kind: .topicExchange, name: names.changes,
            purpose: workQueueCount > 1
                ? "backends publish here; by the routing key the events are spread over the work queues"
                : "backends publish here; the routing key is free",
            arguments: [], bindings: [])
        let hash = TopologyObject(
            kind: .hashExchange, name: names.workHash, purpose: "spreads the events over the work queues",
            arguments: [], bindings: [allChanges])
        let outcomes = TopologyObject(
            kind: .topicExchange, name: names.outcomes, purpose: "the outcome of each push, if turned on",
            arguments: [], bindings: [])
        return workQueueCount > 1 ? [changes, hash, outcomes] : [changes, outcomes]
    }

    private var queues: [TopologyObject] {
        let deadLetter = queue(
            names.deadLetter, "messages that need a person; `apus dead-letters` collects them",
            [MessageHeader("x-delivery-limit", .int64(Self.deadLetterDeliveryLimit))])
        let fanout = queue(
            names.fanout, "the continuations of large fan-outs",
            Self.deadLettering(to: names.deadLetter)
                + [MessageHeader("x-delivery-limit", .int64(Self.deliveryLimit))])
        return [deadLetter] + (1...workQueueCount).map { workQueue($0) } + [fanout]
    }

    private var retryQueues: [TopologyObject] {
        retryDelaysMilliseconds.map { delay in
            queue(
                names.retry(delayMilliseconds: delay), "waits \(delay) ms, then goes back to \(names.work)",
                Self.deadLettering(to: names.work) + [MessageHeader("x-message-ttl", .int64(delay))])
        }
    }

    /// The queue of the outcomes that are counted; a full one drops the oldest, so that it never refuses an outcome.
    var analyticsQueues: [TopologyObject] {
        guard let maximum = analyticsMessagesMaximum else { return [] }
        return [
            queue(
                names.analytics, "outcomes that `apus analytics` counts",
                [
                    MessageHeader("x-max-length", .int64(Int64(maximum))),
                    MessageHeader("x-overflow", .string("drop-head")),
                    MessageHeader("x-delivery-limit", .int64(Self.deadLetterDeliveryLimit)),
                ],
                bindings: [TopologyObject.Binding(exchange: names.outcomes, routingKey: "#")])
        ]
    }

    /// The binding by which the events leave the exchange that backends publish to.
    var allChanges: TopologyObject.Binding { TopologyObject.Binding(exchange: names.changes, routingKey: "#") }

    /// The binding of each work queue if there are several: with the same weight for all.
    var hashShare: TopologyObject.Binding { TopologyObject.Binding(exchange: names.workHash, routingKey: "1") }

    /// A work queue, also one that the configuration does not ask for.
    ///
    /// - Parameter number: which one, from 1.
    /// - Returns: its description.
    func workQueue(_ number: Int) -> TopologyObject {
        queue(
            names.work(number), workQueueCount > 1 ? "workers consume it: events, by hash" : "what workers consume",
            Self.deadLettering(to: names.deadLetter)
                + [MessageHeader("x-delivery-limit", .int64(Self.deliveryLimit))],
            bindings: number > workQueueCount ? [] : [workQueueCount > 1 ? hashShare : allChanges])
    }

    func queue(
        _ name: String, _ purpose: String, _ arguments: [MessageHeader], bindings: [TopologyObject.Binding] = []
    ) -> TopologyObject {
        let type = MessageHeader("x-queue-type", .string("quorum"))
        return TopologyObject(
            kind: .quorumQueue, name: name, purpose: purpose, arguments: [type] + arguments, bindings: bindings)
    }

    /// The arguments for dead-lettering through the default exchange, which routes by queue name.
    ///
    /// It is at-least-once, for which a full queue must reject publishes rather than drop messages.
    static func deadLettering(to queue: String) -> [MessageHeader] {
        [
            MessageHeader("x-dead-letter-exchange", .string("")),
            MessageHeader("x-dead-letter-routing-key", .string(queue)),
            MessageHeader("x-dead-letter-strategy", .string("at-least-once")),
            MessageHeader("x-overflow", .string("reject-publish")),
        ]
    }
}

/// An exchange or a queue that Apus needs.
public struct TopologyObject: Hashable, Sendable {
    /// The kinds of object.
    public enum Kind: String, Sendable {
        /// Durable topic exchange.
        case topicExchange = "topic exchange"
        /// Durable exchange that spreads messages over queues by a hash of their routing key (a plugin of RabbitMQ).
        case hashExchange = "consistent-hash exchange"
        /// Durable, replicated queue.
        case quorumQueue = "quorum queue"
    }

    /// The kind of the object.
    public let kind: Kind
    /// Its name.
    public let name: String
    /// The purpose of the object, in a few words.
    public let purpose: String
    /// Its arguments, as the broker knows them; none for an exchange.
    public let arguments: [MessageHeader]
    /// To which exchanges the queue or exchange is bound, and by which routing key.
    public let bindings: [Binding]

    /// A binding of a queue or an exchange to an exchange.
    public struct Binding: Hashable, Sendable {
        /// The exchange.
        public let exchange: String
        /// The pattern of routing keys; for a consistent-hash exchange the weight.
        public let routingKey: String
    }
}
