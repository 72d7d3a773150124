public import ChangeEvents
import Essentials
public import Messages
public import Notifications
public import RegistryCore

/// The actions for the shell after the events of a tick have been fed to a `DispatchStateMachine`.
public struct DispatchActions: Sendable {
    /// Something that an operator should hear of.
    public enum Notice: Hashable, Sendable {
        /// The health of an app has changed.
        case health(AppHealth.Notice)
        /// The broker did not take a message that must be requeued; it is in `publishesToRepeat`.
        case publishRefused(Message, queue: String, reason: String)
        /// A message reached the dead letters.
        case deadLettered(Message, reason: String, detail: String)
        /// A push service explained why it did not take a push of an app, which is tried again.
        case explained(app: Int, reason: String, explanation: String)
        /// Outcomes are dropped from now on, or are not any more; and what the broker said to the last one.
        case outcomesDropping(Bool, PublishOutcome)
    }

    /// Deliveries whose copies the broker refuses, so that it has to dead-letter the originals.
    public struct Rejection: Sendable {
        /// The deliveries, those of the events among them that the event stands for.
        public let tags: [DeliveryTag]
        /// The message of the event.
        public let message: Message
        /// Why the broker takes no copy.
        public let detail: String
    }

    /// How late pushes are: from the publication of their event until the push service accepted them.
    ///
    /// Pushes that have to be retried are at least as late as their next attempt, and expired ones as their expiration.
    /// So each attempt tells of a push that is not accepted once more, with a lag that grows.
    public struct Lag: Sendable {
        /// The lag in milliseconds; never negative.
        public let milliseconds: Int64
        /// How many pushes of the event have it.
        public let count: Int
        /// The push, if the service accepted it.
        public let apnsID: APNsIdentifier?

        /// Creates one.
        public init(milliseconds: Int64, count: Int = 1, apnsID: APNsIdentifier? = nil) {
            self.milliseconds = milliseconds
            self.count = count
            self.apnsID = apnsID
        }
    }

    /// A copy of a recorded event that was published, or was not.
    struct CopyReport: Sendable {
        /// The delivery of the event.
        let tag: DeliveryTag
        /// Where it was published to.
        let queue: String
        /// Why, as a word.
        let reason: String
        /// How the publish ended.
        let outcome: PublishOutcome
        /// When it was handed to the publisher.
        let begun: MonotonicTime
    }

    /// Pushes to send.
    public var sends: [PushRequest] = []
    /// Messages to publish.
    public var publishes: [OutgoingMessage] = []
    /// Messages that the broker refused: to be published again, but not at once.
    public var publishesToRepeat: [OutgoingMessage] = []
    /// Deliveries that have ended.
    public var settles: [DeliveryTag] = []
    /// Deliveries that have ended and are to be rejected.
    public var rejections: [Rejection] = []
    /// The deliveries of chunks that are to be rejected when their last page has ended, each with the reason.
    public var chunksRejected: [DeliveryTag: String] = [:]
    /// The plans with a chunk that the broker finally refuses, each with the reason.
    public var plansRejected: [UInt64: String] = [:]
    /// The deliveries of chunks that a page has ended of, once for each page.
    public var chunkPagesEnded: [DeliveryTag] = []
    /// The plans with a chunk that the broker has confirmed, once for each chunk.
    public var chunksConfirmed: [UInt64] = []
    /// The datasets of jobs that have ended.
    var datasetsSettled: [DatasetKey] = []
    /// The devices that have been sent a sync count, each with the count.
    public var told: [(deviceID: String, announcement: DatasetAnnouncement)] = []
    /// Tokens to prune.
    public var deadTokens: [DeadToken] = []
    /// Outcomes that are to wait in the registry, each with the number that its answer names.
    public var outcomesToStore: [(identifier: UInt64, outcome: WaitingOutcome)] = []
    /// Outcomes of the registry that the broker has, by the registry's numbers.
    public var outcomesRestored: [Int64] = []
    /// Outcomes for the history of events.
    public var keptOutcomes: [KeptOutcome] = []
    /// How late pushes are that were accepted, have to be retried, or have expired.
    public var lags: [Lag] = []
    /// The attempts of pushes of recorded events that have ended, each with the delivery.
    var attempts: [(tag: DeliveryTag, attempt: PushAttempt)] = []
    /// The copies of recorded events that were published.
    var copies: [CopyReport] = []
    /// How many messages with outcomes the broker has confirmed.
    public var outcomesPublished = 0
    /// How many messages with outcomes were dropped, because the broker did not take them.
    public var outcomesDropped = 0
    /// The notices to log.
    public var notices: [Notice] = []

    /// Creates an empty set of actions.
    public init() {}

    /// Whether there is nothing to do.
    public var isEmpty: Bool {
        sends.isEmpty && publishes.isEmpty && publishesToRepeat.isEmpty && settles.isEmpty
            && rejections.isEmpty && chunksRejected.isEmpty && plansRejected.isEmpty
            && chunkPagesEnded.isEmpty && chunksConfirmed.isEmpty && datasetsSettled.isEmpty && told.isEmpty
            && deadTokens.isEmpty && keptOutcomes.isEmpty
            && outcomesToStore.isEmpty && outcomesRestored.isEmpty && lags.isEmpty && notices.isEmpty
            && attempts.isEmpty && copies.isEmpty && outcomesPublished == 0 && outcomesDropped == 0
    }

    /// Empties all lists and keeps their room.
    public mutating func removeAll() {
        sends.removeAll(keepingCapacity: true)
        publishes.removeAll(keepingCapacity: true)
        publishesToRepeat.removeAll(keepingCapacity: true)
        settles.removeAll(keepingCapacity: true)
        rejections.removeAll(keepingCapacity: true)
        chunksRejected.removeAll(keepingCapacity: true)
        plansRejected.removeAll(keepingCapacity: true)
        chunkPagesEnded.removeAll(keepingCapacity: true)
        chunksConfirmed.removeAll(keepingCapacity: true)
        datasetsSettled.removeAll(keepingCapacity: true)
        told.removeAll(keepingCapacity: true)
        deadTokens.removeAll(keepingCapacity: true)
        keptOutcomes.removeAll(keepingCapacity: true)
        outcomesToStore.removeAll(keepingCapacity: true)
        outcomesRestored.removeAll(keepingCapacity: true)
        lags.removeAll(keepingCapacity: true)
        notices.removeAll(keepingCapacity: true)
        attempts.removeAll(keepingCapacity: true)
        copies.removeAll(keepingCapacity: true)
        outcomesPublished = 0
        outcomesDropped = 0
    }
}
