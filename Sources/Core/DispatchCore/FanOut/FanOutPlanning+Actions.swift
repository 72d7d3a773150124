public import ChangeEvents
public import Messages
public import RegistryCore

extension FanOutPlanning {
    /// An event whose audience is large.
    public struct LargeEvent: Sendable {
        /// The event, as the registry names its fan-out.
        public var event: FanOutEvent
        /// The message of the event, which each chunk's message copies.
        public var message: Message
        /// The history that each chunk's message bears.
        public var retryState: RetryState
        /// The audience.
        public var audience: FanOutAudience
        /// The device to leave out.
        public var excludedDeviceID: String?

        /// Describes an event.
        public init(
            event: FanOutEvent, message: Message, retryState: RetryState, audience: FanOutAudience,
            excludedDeviceID: String?
        ) {
            self.event = event
            self.message = message
            self.retryState = retryState
            self.audience = audience
            self.excludedDeviceID = excludedDeviceID
        }
    }

    /// Something to ask the registry for a plan.
    public enum Question: Hashable, Sendable {
        /// A request about the fan-out, answered by `answered`.
        case fanOut(FanOutRequest)
        /// The search for the end of a chunk, answered by `chunkFound`.
        case findChunk(FanOutChunkSearch)
    }

    /// A chunk to publish (`DispatchStateMachine.chunkPlanned`).
    public struct Publish: Sendable {
        /// The number of the plan; `chunkConfirmed` or `rejected` follows.
        public let plan: UInt64
        /// The chunk.
        public let chunk: FanOutChunkJob
        /// The message of the event.
        public let message: Message
        /// The history of the event.
        public let retryState: RetryState
    }

    /// An event that planning has taken over.
    public struct Taken: Hashable, Sendable {
        /// The first delivery of the event.
        public let tag: DeliveryTag
        /// The number of devices that its fan-out has so far.
        public let deviceCount: Int
    }

    /// An event that is to be served page by page, because the registry cannot keep its fan-out.
    public struct Unplanned: Hashable, Sendable {
        /// The first delivery of the event, and of each delivery of the same event that came meanwhile.
        public let events: [DeliveryTag]
        /// All deliveries that end with it, the former among them.
        public let tags: [DeliveryTag]
    }

    /// A message for the log.
    public enum Notice: Hashable, Sendable {
        /// The fan-out of an event was planned or cancelled before (`fanout.found`).
        case found(FanOut)
        /// This worker plans a fan-out, or waits for the worker that plans it (`fanout.planning`).
        case planning(FanOut)
        /// A fan-out is planned, or was cancelled meanwhile (`fanout.planned`).
        case planned(FanOut)
        /// The registry did not answer for a plan, which goes on after a while (`fanout.planning.failed`).
        case failed(FanOut, RegistryError)
        /// The registry did not begin or find the fan-out of an event; it is asked again after a while.
        case beginningFailed(FanOutEvent, RegistryError)
        /// The registry can only be read, so no fan-out is begun for a while (`fanout.unavailable`).
        case unavailable(RegistryError)
    }

    /// The counts for the metrics.
    public struct Counts: Hashable, Sendable {
        /// Fan-outs that this worker has planned to the end.
        public var planned = 0
        /// Events whose fan-out was planned or cancelled before.
        public var found = 0
        /// Chunks that the broker has confirmed.
        public var chunksPlanned = 0
        /// Requests that the registry did not answer.
        public var registryFailures = 0
    }

    /// The actions after the events of a tick have been fed to a `FanOutPlanning`.
    public struct Actions: Sendable {
        /// The questions to the registry, each with the number of the plan.
        ///
        /// Each is answered by the event that its case names, or by `questionFailed`.
        public var questions: [(plan: UInt64, question: Question)] = []
        /// Chunks to publish.
        public var publishes: [Publish] = []
        /// Deliveries to settle.
        public var settles: [DeliveryTag] = []
        /// Deliveries to reject.
        public var rejections: [DispatchActions.Rejection] = []
        /// Events whose fan-out is known; each event that begins comes once here or in `unplanned`.
        public var taken: [Taken] = []
        /// Events that are to be served page by page.
        public var unplanned: [Unplanned] = []
        /// The notices to log.
        public var notices: [Notice] = []
        /// The counts to add to the metrics.
        public var counts = Counts()

        /// Creates an empty set of actions.
        public init() {}

        /// Whether there is nothing to do.
        var isEmpty: Bool {
            questions.isEmpty && publishes.isEmpty && settles.isEmpty && rejections.isEmpty
                && taken.isEmpty && unplanned.isEmpty && notices.isEmpty && counts == Counts()
        }

        /// Empties all lists and counts, and keeps their room.
        mutating func removeAll() {
            questions.removeAll(keepingCapacity: true)
            publishes.removeAll(keepingCapacity: true)
            settles.removeAll(keepingCapacity: true)
            rejections.removeAll(keepingCapacity: true)
            taken.removeAll(keepingCapacity: true)
            unplanned.removeAll(keepingCapacity: true)
            notices.removeAll(keepingCapacity: true)
            counts = Counts()
        }
    }
}
