public import ChangeEvents
public import Messages
public import Notifications
public import RegistryCore

/// The actions for the shell after the events of a tick have been fed to a `PipelineMachine`.
public struct PipelineActions: Sendable {
    /// A request to the registry, and the number under which its answer comes back.
    public struct Request: Sendable {
        /// The number for `PipelineMachine.registryAnswered`.
        public let number: UInt64
        /// The request.
        public let request: RegistryRequest
    }

    /// Pushes to send, messages to publish, deliveries to settle or reject, tokens to prune, notices of single pushes.
    public var dispatch = DispatchActions()
    /// Requests to the registry, in their order.
    public var requests: [Request] = []
    /// The outcomes of the events that have begun.
    public var events: [EventReport] = []
    /// The notices to log, to count or to show.
    public var notices: [PipelineNotice] = []

    /// Creates an empty set of actions.
    public init() {}

    /// Whether there is nothing to do.
    public var isEmpty: Bool { dispatch.isEmpty && requests.isEmpty && events.isEmpty && notices.isEmpty }

    /// Empties all lists and keeps their room.
    public mutating func removeAll() {
        dispatch.removeAll()
        requests.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        notices.removeAll(keepingCapacity: true)
    }
}

/// The outcome of an event when it began, for the metrics and the log.
public struct EventReport: Sendable {
    /// The outcome of an event.
    public enum Fate: String, Sendable {
        /// It has devices, to which pushes go out.
        case matched
        /// It has no device.
        case unmatched
        /// A newer change of its dataset replaces it.
        case coalesced
        /// It has devices, but it has expired, or will have when its slow app can send it.
        case expired
        /// Its app is slow and has more than its share, so it waits in a retry queue.
        case deferred
        /// It came again after its pushes had ended.
        case repeated
    }

    /// The event.
    public let event: DecodedEvent
    /// The outcome.
    public let fate: Fate
    /// The content for each app among its devices.
    public let renderings: [AppRendering]
    /// How many devices it has, without those of later pages.
    public let deviceCount: Int
}

/// Something that the shell logs, counts or shows, beside what became of events and pushes.
public enum PipelineNotice: Sendable {
    /// A publisher sets headers that are Apus' own.
    case headersIgnored(Delivery)
    /// A delivery cannot be acted on, and goes to the dead letters.
    case rejected(Message, EventRejection)
    /// A delivery needs no action, and is acknowledged.
    case skipped(Message, EventRejection)
    /// Devices or tokens of an event were left out, because they have no token of the push's kind.
    case leftOut(DecodedEvent, count: Int, isWhole: Bool)
    /// Pushes show nothing, because not even their shortest texts fit.
    case reduced(Int, app: Int)
    /// The registry did not answer a request.
    case registryFailed(RegistryError)
    /// The registry has not answered for a while.
    case registryIsSlow
    /// The registry answers in time.
    case registryAnswers
    /// Dead tokens could not be pruned.
    case pruningFailed(tokenCount: Int, RegistryError)
    /// Dead tokens were pruned.
    case pruned(Int)
    /// The registry does not take outcomes that the broker does not take, so they are dropped.
    case outcomesNotStored(Int, RegistryError)
    /// Outcomes are missing in the history of events: too many came, or the registry did not take them.
    case historyLeftOut(Int, RegistryError?)
    /// An event came again with another content, and was not pushed.
    case repeatedDifferently(DecodedEvent)
    /// Events are not remembered, so that they would be pushed again.
    case notRemembered(RegistryError)
    /// Events were forgotten before their time, because the registry remembers as many as it may.
    case forgottenEarly(Int)
    /// Something happened to a large fan-out that is served.
    case serving(FanOutServing.Notice)
    /// How chunks of large fan-outs ended.
    case served(FanOutServing.Counts)
    /// Something happened to a large fan-out that is planned.
    case planning(FanOutPlanning.Notice)
    /// How far the plans of large fan-outs are.
    case planned(FanOutPlanning.Counts)
    /// Subscriptions to records were read; and whether all of them are in the index now.
    case subscriptionsRead(areAll: Bool, SubscriptionIndexSize)
    /// An operator has paused an app or all, or given another reason for it.
    case paused(AppPause)
    /// An operator has ended the pause of an app, or of all if it is nil.
    case resumed(app: String?)
    /// The pauses could not be read, so those that are known stay in force.
    case pausesNotRead(RegistryError)
    /// Consumption stops for a reason, or for another reason than before; nil: it goes on.
    case consumption(ConsumptionStop?)
}

/// Why a worker consumes nothing: the backlog stands in the broker, where it is durable and costs it no memory.
public enum ConsumptionStop: Hashable, Sendable {
    /// The push services can be reached for no app.
    case unreachable
    /// An operator has paused all apps.
    case paused
}
