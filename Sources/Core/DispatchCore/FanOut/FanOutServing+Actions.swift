public import ChangeEvents
public import RegistryCore

extension FanOutServing {
    /// A page to resolve: the devices of a delivery behind a position.
    public struct PageRequest: Hashable, Sendable {
        /// The delivery; the answer comes back under its tag.
        public let tag: DeliveryTag
        /// The chunk, whose state the registry is asked for as well; nil for a continuation.
        public let key: FanOutChunkKey?
        /// The position before the page; nil for the start of the audience.
        public let cursor: AudienceCursor?
    }

    /// A chunk that has ended and whose delivery is to be rejected.
    public struct Rejection: Hashable, Sendable {
        /// The delivery.
        public let tag: DeliveryTag
        /// The reason why the broker takes no copy of something of the chunk.
        public let detail: String
    }

    /// A message for the log.
    public enum Notice: Hashable, Sendable {
        /// No push of a flow has been answered for some time (`fanout.hangs`).
        case flowHangs(FanOutFlow)
        /// The registry did not keep the endings of that many chunks (`fanout.chunk.not-recorded`).
        case endingsNotRecorded(count: Int, RegistryError)
    }

    /// The counts for the metrics.
    public struct Counts: Hashable, Sendable {
        /// Chunks that were served to their end.
        public var chunksServed = 0
        /// Chunks that were not served to their end, because their fan-out was cancelled.
        public var chunksCancelled = 0
        /// Chunks that another delivery had served before.
        public var chunksRepeated = 0
        /// Chunks that became a dead letter.
        public var chunksRejected = 0
        /// Deliveries that went to a retry queue because their flow hangs; the caller, which puts them there, counts.
        public var chunksDelayed = 0
        /// Requests that the registry did not answer.
        public var registryFailures = 0
    }

    /// The actions after the events of a tick have been fed to a `FanOutServing`.
    ///
    /// Every delivery that arrives comes once in `released`, unless `flowsHang` returned it.
    public struct Actions: Sendable {
        /// Deliveries to settle.
        public var settles: [DeliveryTag] = []
        /// Deliveries to reject.
        public var rejections: [Rejection] = []
        /// The endings for the next `FanOutRequest.ended`, answered by `endingsRecorded` or `endingsNotRecorded`.
        public var endingsToRecord: [FanOutChunkEnding] = []
        /// Pages that were asked for and are not wanted any more: an answer to them is to be dropped.
        public var pagesAbandoned: [DeliveryTag] = []
        /// Deliveries without further pages, so that the caller may forget their events.
        ///
        /// No page of them is out, unless their connection is lost. Some of them are settled later, when their ending
        /// has been recorded.
        public var released: [DeliveryTag] = []
        /// The notices to log.
        public var notices: [Notice] = []
        /// The counts to add to the metrics.
        public var counts = Counts()

        /// Creates an empty set of actions.
        public init() {}

        /// Whether there is nothing to do.
        var isEmpty: Bool {
            settles.isEmpty && rejections.isEmpty && endingsToRecord.isEmpty && pagesAbandoned.isEmpty
                && released.isEmpty && notices.isEmpty && counts == Counts()
        }

        /// Empties all lists and counts, and keeps their room.
        public mutating func removeAll() {
            settles.removeAll(keepingCapacity: true)
            rejections.removeAll(keepingCapacity: true)
            endingsToRecord.removeAll(keepingCapacity: true)
            pagesAbandoned.removeAll(keepingCapacity: true)
            released.removeAll(keepingCapacity: true)
            notices.removeAll(keepingCapacity: true)
            counts = Counts()
        }
    }
}
