public import RegistryCore

/// The planning of one large fan-out: which chunk to look for, to write down and to publish next.
///
/// Chunks are found in batches, written into the registry, published, and marked as published after the broker's
/// confirm. So another planner can continue from the registry alone, wherever this one ended. The first batch is one
/// chunk, so that serving begins at once; later ones are larger, so that few writes plan many devices.
///
/// | step | what follows it |
/// |---|---|
/// | ask | `fanOutRead`, which also says whether another planner has it |
/// | find | `chunkFound` |
/// | save | `planSaved` |
/// | read | `unpublishedRead` |
/// | publish | `published`, then `chunkConfirmed` for each |
/// | record | `fanOutRead` |
/// | wait | `chunkConfirmed`, or for `waitForOther` some time, then `asked` |
/// | finish | nothing: the event's deliveries may be settled |
///
/// A step that failed is given again.
public struct FanOutPlanner: Sendable {
    /// The next action.
    public enum Step: Hashable, Sendable {
        /// Read the fan-out, and take it over if it has no planner.
        case ask
        /// Find where a chunk ends that begins after a position.
        case find(after: AudienceCursor?)
        /// Write chunks into the registry.
        case save([FanOutChunk])
        /// Read chunks that may not have been published.
        case read(after: Int, limit: Int)
        /// Publish chunks.
        case publish([FanOutChunk])
        /// Wait for the broker.
        case waitForConfirms
        /// Note that the chunks up to one are published.
        case record(through: Int)
        /// Another planner has it: ask again later.
        case waitForOther
        /// There is nothing left to plan.
        case finish
    }

    private enum Phase: Sendable {
        case asking
        case read
        case finding([FanOutChunk])
        case saving([FanOutChunk])
        case publishing([FanOutChunk])
        case confirming(left: Int, last: Int)
        case recording(last: Int)
        case waitingForOther
        case finished
    }

    /// The most chunks of one batch.
    static let batchMaximum = 16

    private let planner: Int64
    private var phase = Phase.asking
    private var batchSize = 1

    /// The fan-out as it was read last.
    public private(set) var fanOut: FanOut

    /// Begins, or goes on with, the planning of a fan-out that was just read.
    ///
    /// - Parameters:
    ///   - fanOut: the fan-out.
    ///   - planner: the number of the planner.
    public init(_ fanOut: FanOut, planner: Int64) {
        self.fanOut = fanOut
        self.planner = planner
        fanOutRead(fanOut)
    }

    /// The current action.
    public var step: Step {
        switch phase {
        case .asking: .ask
        case .read: .read(after: fanOut.chunksPublished, limit: Self.batchMaximum)
        case .finding(let found): .find(after: found.last.map(\.through) ?? fanOut.position)
        case .saving(let found): .save(found)
        case .publishing(let chunks): .publish(chunks)
        case .confirming: .waitForConfirms
        case .recording(let last): .record(through: last)
        case .waitingForOther: .waitForOther
        case .finished: .finish
        }
    }

    /// The fan-out was read, or changed.
    public mutating func fanOutRead(_ fanOut: FanOut) {
        self.fanOut = fanOut
        if fanOut.state != .planning {
            phase = .finished
        } else if fanOut.planner != planner {
            phase = .waitingForOther
        } else if fanOut.chunksPublished < fanOut.chunksPlanned {
            phase = .read
        } else if fanOut.isWhole {
            phase = .recording(last: fanOut.chunksPlanned)
        } else {
            phase = .finding([])
        }
    }

    /// The registry does not know the fan-out any more.
    mutating func fanOutLost() { phase = .asking }

    /// Some time has passed, in which another planner may have ended.
    public mutating func asked() {
        guard case .waitingForOther = phase else { return unexpected() }
        phase = .asking
    }

    /// The end of a chunk was found.
    ///
    /// - Parameters:
    ///   - end: its last position; nil if it is the last chunk.
    ///   - subscriptions: the subscriptions to records that have devices in it, or cover some of them.
    ///   - deviceCount: how many devices it has.
    public mutating func chunkFound(through end: AudienceCursor?, subscriptions: [Int64], deviceCount: Int) {
        guard case .finding(var found) = phase else { return unexpected() }
        found.append(
            FanOutChunk(
                number: fanOut.chunksPlanned + found.count + 1, after: found.last.map(\.through) ?? fanOut.position,
                through: end, subscriptions: subscriptions, deviceCount: deviceCount))
        phase = end == nil || found.count >= batchSize ? .saving(found) : .finding(found)
    }

    /// The registry answered to chunks that were to be written down.
    public mutating func planSaved(_ fanOut: FanOut) {
        guard case .saving(let found) = phase else { return unexpected() }
        let isSaved = fanOut.planner == planner && fanOut.chunksPlanned == found.last?.number
        fanOutRead(fanOut)
        guard isSaved, fanOut.state == .planning else { return }
        batchSize = min(batchSize * 2, Self.batchMaximum)
        phase = .publishing(found)
    }

    /// Chunks were read that may not have been published.
    public mutating func unpublishedRead(_ chunks: [FanOutChunk]) {
        guard case .read = phase else { return unexpected() }
        phase = chunks.isEmpty ? .asking : .publishing(chunks)
    }

    /// The chunks were handed to the publisher.
    public mutating func published() {
        guard case .publishing(let chunks) = phase else { return unexpected() }
        phase = .confirming(left: chunks.count, last: chunks.last?.number ?? fanOut.chunksPublished)
    }

    /// The broker has confirmed one of the chunks.
    public mutating func chunkConfirmed() {
        guard case .confirming(let left, let last) = phase else { return unexpected() }
        phase = left > 1 ? .confirming(left: left - 1, last: last) : .recording(last: last)
    }

    private func unexpected() { assertionFailure("the step is \(step), which this does not follow") }
}
