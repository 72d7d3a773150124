public import ChangeEvents
public import Essentials
public import RegistryCore

/// The bulk deliveries that wait for a page, in the order in which their pages are served.
///
/// Flows are served in round robin, a page each. Within a flow the first delivery is served until it has no page left,
/// because a crash repeats each chunk that has begun and not ended. The prefetch of the fan-out queue, a few
/// deliveries, bounds it.
struct FanOutQueue: Sendable {
    private struct Line: Sendable {
        let flow: FanOutFlow
        var deliveries: [FanOutDelivery]
    }

    /// The flows with a waiting delivery, the next to be served first.
    private var lines: [Line] = []

    /// Whether no delivery waits.
    var isEmpty: Bool { lines.isEmpty }

    /// Puts a delivery at the end of its flow.
    mutating func append(_ delivery: FanOutDelivery) {
        if let index = index(of: delivery.flow) {
            lines[index].deliveries.append(delivery)
        } else {
            lines.append(Line(flow: delivery.flow, deliveries: [delivery]))
        }
    }

    /// Puts a delivery before the others of its flow: it has a further page, or its page could not be resolved.
    mutating func putInFront(_ delivery: FanOutDelivery) {
        if let index = index(of: delivery.flow) {
            lines[index].deliveries.insert(delivery, at: 0)
        } else {
            lines.append(Line(flow: delivery.flow, deliveries: [delivery]))
        }
    }

    /// The delivery whose page is next.
    ///
    /// - Parameter mayServe: whether the first delivery of a flow may be served now; if not, its flow is passed over.
    /// - Returns: the delivery; nil if none may be served.
    func first(where mayServe: (FanOutDelivery) -> Bool) -> FanOutDelivery? {
        lines.lazy.map { $0.deliveries[0] }.first(where: mayServe)
    }

    /// Takes out the first delivery of a flow, and moves the flow behind the others.
    mutating func takeFirst(of flow: FanOutFlow) -> FanOutDelivery? {
        guard let index = index(of: flow) else { return nil }
        var line = lines.remove(at: index)
        let delivery = line.deliveries.removeFirst()
        if !line.deliveries.isEmpty { lines.append(line) }
        return delivery
    }

    /// Takes out the deliveries that meet a condition.
    ///
    /// - Returns: the deliveries, flow by flow, each flow in its order.
    mutating func removeAll(where isRemoved: (FanOutDelivery) -> Bool) -> [FanOutDelivery] {
        var removed: [FanOutDelivery] = []
        for index in lines.indices {
            removed += lines[index].deliveries.filter(isRemoved)
            lines[index].deliveries.removeAll(where: isRemoved)
        }
        lines.removeAll { $0.deliveries.isEmpty }
        return removed
    }

    private func index(of flow: FanOutFlow) -> Int? { lines.firstIndex { $0.flow == flow } }
}

/// The unit of fairness between large fan-outs: an app, or the identity pool of a dataset.
public struct FanOutFlow: Hashable, Sendable {
    /// The name of the app or of the identity pool.
    @ByBytes public var name: String
    /// The apps that its pushes go to, by their index in the configuration; empty if none is configured.
    public var apps: [Int]

    /// Names a flow.
    public init(name: String, apps: [Int]) {
        self.name = name
        self.apps = apps
    }
}

/// A bulk delivery: a chunk of a large fan-out, or a continuation.
///
/// A continuation is the rest of an audience that is served page by page. It is one page: the page after it is
/// published as a continuation of its own.
public struct FanOutDelivery: Hashable, Sendable {
    /// The delivery.
    public var tag: DeliveryTag
    /// The chunk; nil for a continuation.
    public var key: FanOutChunkKey?
    /// The flow that it belongs to.
    public var flow: FanOutFlow
    /// The position before its first page; nil for the start of the audience.
    var cursor: AudienceCursor?

    /// Describes a delivery.
    public init(tag: DeliveryTag, key: FanOutChunkKey?, flow: FanOutFlow, cursor: AudienceCursor? = nil) {
        self.tag = tag
        self.key = key
        self.flow = flow
        self.cursor = cursor
    }
}

/// The progress of a chunk of a large fan-out that this worker has begun and that has not ended.
struct FanOutChunkProgress: Sendable {
    /// The chunk.
    let key: FanOutChunkKey
    /// The flow that it belongs to.
    let flow: FanOutFlow
    /// The number of chunks that this worker had begun before.
    let order: UInt64
    /// The position before the next page.
    private(set) var cursor: AudienceCursor?
    /// The number of pages that have begun.
    private(set) var pagesBegun = 0
    /// The number of pages that have begun and not ended.
    private(set) var pagesOut = 0
    /// The start of the time in which at least one page was always out; has a meaning while `pagesOut` is not 0.
    private(set) var outSince = MonotonicTime(nanoseconds: 0)
    /// Whether no further page is to begin.
    private(set) var isRead = false
    /// Whether its fan-out was cancelled before all its pages had begun.
    private(set) var isCancelled = false
    /// Whether a page could not be rendered, so that the chunk has become a dead letter.
    private(set) var isDeadLetter = false
    /// The reason why the broker takes no copy of something of the chunk, now or later; nil if there is none.
    var refusal: String?

    /// Describes a chunk of which no page has begun.
    init(_ delivery: FanOutDelivery, key: FanOutChunkKey, order: UInt64) {
        self.key = key
        flow = delivery.flow
        self.order = order
        cursor = delivery.cursor
    }

    /// Whether the chunk has ended.
    var hasEnded: Bool { isRead && pagesOut == 0 }

    /// A page begins.
    ///
    /// - Parameters:
    ///   - next: the position after it; nil if it is the last page.
    ///   - now: the time.
    mutating func pageBegins(next: AudienceCursor?, at now: MonotonicTime) {
        goOut(at: now)
        pagesBegun += 1
        if let next { cursor = next } else { isRead = true }
    }

    /// A dead letter goes out in place of the next page.
    mutating func deadLetterGoesOut(at now: MonotonicTime) {
        goOut(at: now)
        isRead = true
        isDeadLetter = true
    }

    /// No further page is to be served.
    mutating func stops(isCancelled: Bool) {
        isRead = true
        self.isCancelled = isCancelled
    }

    /// All pushes of a page have ended, or its dead letter is with the broker.
    mutating func pageEnded() {
        assert(pagesOut > 0, "a page ended that had not begun")
        pagesOut -= 1
    }

    private mutating func goOut(at now: MonotonicTime) {
        if pagesOut == 0 { outSince = now }
        pagesOut += 1
    }
}
