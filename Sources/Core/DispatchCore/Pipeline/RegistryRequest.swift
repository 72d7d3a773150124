import ChangeEvents
import Essentials
public import RegistryCore

/// The requests of the pipeline to the registry, which run on the registry's own loop.
public enum RegistryRequest: Sendable {
    /// Read which apps are paused.
    case readPauses
    /// Read the next subscriptions to records into the index.
    case readSubscriptions
    /// Find the devices of events, or of pages of them, and at most so many for each.
    case resolve([AudienceQuestion], devicesPerPage: Int)
    /// Find where a chunk of a large audience ends.
    case findChunk(FanOutChunkSearch)
    /// Keep how far a large fan-out is.
    case fanOut(FanOutRequest)
    /// Remove dead tokens.
    case prune([DeadToken])
    /// Let outcomes wait until the broker takes messages again.
    case addWaitingOutcomes([WaitingOutcome])
    /// Take outcomes that wait.
    case takeWaitingOutcomes(limit: Int)
    /// Forget outcomes that waited, and that the broker has.
    case removeWaitingOutcomes([Int64])
    /// Keep outcomes for the history of events, and forget old ones.
    case keepOutcomes([KeptOutcome])
    /// Remember events whose pushes have ended, and forget old ones.
    case remember([RememberedEvent])

    /// Whether only the client with the index of subscriptions can answer it.
    ///
    /// The index may be the largest thing in a worker's memory, so one client has it, on its own thread. Retries and
    /// chunks name their devices or subscriptions, so that any client can look them up.
    public var needsSubscriptions: Bool {
        switch self {
        case .readSubscriptions: true
        case .findChunk(let search): if case .record = search.audience { true } else { false }
        case .resolve(let questions, _): questions.contains { $0.event.matchedChange != nil }
        case .readPauses, .fanOut, .prune, .keepOutcomes, .remember, .addWaitingOutcomes, .takeWaitingOutcomes,
            .removeWaitingOutcomes:
            false
        }
    }

    /// Whether it writes to a disk; requests that only read must not wait for it.
    public var isWrite: Bool {
        switch self {
        case .readPauses, .readSubscriptions, .resolve, .findChunk: false
        // The last two may wait as the first, which is a write.
        case .addWaitingOutcomes, .takeWaitingOutcomes, .removeWaitingOutcomes: true
        case .fanOut, .prune, .keepOutcomes, .remember: true
        }
    }
}

/// The answer of the registry to a `RegistryRequest`.
public enum RegistryAnswer: Sendable {
    /// The pauses in force.
    case pausesRead([AppPause])
    /// Subscriptions were read; and whether all of them are in the index now.
    case subscriptionsRead(areAll: Bool, SubscriptionIndexSize)
    /// The audiences, one for each question; at least one of them is not `later`.
    case resolved([AudienceResult])
    /// The end of a chunk.
    case chunkFound(FanOutChunkExtent)
    /// How far the fan-out is.
    case fanOut(FanOutRequest.Answer)
    /// How many devices and tokens were removed.
    case pruned(Int)
    /// The outcomes are kept, wait, or are forgotten.
    case outcomesKept
    /// Outcomes that wait, each with its number.
    case waitingOutcomes([(number: Int64, outcome: WaitingOutcome)])
    /// Events are remembered; and how many others were forgotten before their time, because there are too many.
    case remembered(forgottenEarly: Int)
}

/// How large the index of subscriptions to records is.
public struct SubscriptionIndexSize: Hashable, Sendable {
    /// How many subscriptions it has.
    public let subscriptionCount: Int
    /// How many different predicates they have.
    public let distinctPredicateCount: Int
    /// How much memory it takes, in bytes.
    public let memoryBytes: Int

    /// Describes an index.
    public init(subscriptionCount: Int, distinctPredicateCount: Int, memoryBytes: Int) {
        self.subscriptionCount = subscriptionCount
        self.distinctPredicateCount = distinctPredicateCount
        self.memoryBytes = memoryBytes
    }
}

/// The unanswered requests to the registry, and their evidence about the registry's health.
///
/// | the registry is | means | can transition to |
/// |---|---|---|
/// | well | it answers look-ups in time | slow, when a request waits for a second; failing, when a look-up fails |
/// | slow | readiness names it | well, when an answer comes in time and no request waits for too long; failing |
/// | failing | readiness names it | well, when a look-up or a write succeeds in time and none waits for too long |
struct PendingRequests: Sendable {
    /// The purpose of an answer.
    enum Purpose: Hashable, Sendable {
        case pauses(isFirst: Bool)
        case subscriptions
        case batch(UInt64)
        case page(DeliveryTag)
        case plan(UInt64)
        case endings
        case pruning(tokenCount: Int)
        case keeping(outcomeCount: Int)
        case addingOutcomes([UInt64])
        case findingOutcomes
        case removingOutcomes
        case memory

        /// Whether nothing waits for the answer.
        var isBackground: Bool { self == .pauses(isFirst: false) || self == .findingOutcomes }
    }

    /// After how long a request that is not answered means that the registry is in trouble.
    static let patienceMilliseconds: Int64 = 1_000

    private enum Trouble: Sendable {
        case slow, failing
    }

    private struct Request: Sendable {
        let purpose: Purpose
        let asked: MonotonicTime
    }

    private let repeatDelayNanoseconds: UInt64
    private var pending: [UInt64: Request] = [:]
    private var lastNumber: UInt64 = 0
    private var trouble: Trouble?
    /// When look-ups that failed are asked again; nil if the last one was answered.
    private(set) var retryAt: MonotonicTime?

    /// Creates a table without requests.
    ///
    /// - Parameter repeatDelayNanoseconds: the time after which a look-up that failed is asked again.
    init(repeatDelayNanoseconds: UInt64) { self.repeatDelayNanoseconds = repeatDelayNanoseconds }

    /// Whether a request is not answered.
    func contains(_ isMeant: (Purpose) -> Bool) -> Bool { pending.values.contains { isMeant($0.purpose) } }

    /// The time when `tick` has something to do, if nothing happens until then.
    var nextDeadline: MonotonicTime? {
        let overdue = trouble != nil ? nil : oldest?.advanced(byMilliseconds: UInt64(Self.patienceMilliseconds))
        return [retryAt, overdue].compactMap(\.self).min()
    }

    private var oldest: MonotonicTime? { pending.values.lazy.filter { !$0.purpose.isBackground }.map(\.asked).min() }

    // MARK: Events

    /// A request is made.
    ///
    /// - Returns: the number of the request.
    mutating func asked(for purpose: Purpose, at now: MonotonicTime) -> UInt64 {
        lastNumber += 1
        pending[lastNumber] = Request(purpose: purpose, asked: now)
        return lastNumber
    }

    /// A request was answered.
    ///
    /// - Parameters:
    ///   - number: its number.
    ///   - isSuccess: whether the registry could answer.
    ///   - now: the time.
    ///   - notices: receives the registry's notices.
    /// - Returns: the purpose of the request; nil if it was abandoned.
    mutating func answered(
        _ number: UInt64, isSuccess: Bool, at now: MonotonicTime, into notices: inout [PipelineNotice]
    ) -> Purpose? {
        guard let request = pending.removeValue(forKey: number) else { return nil }
        let isInTime = isSuccess && !isOverdue(request.asked, now) && !isOverdue(oldest, now)
        if trouble != nil, isInTime, isProof(request.purpose) {
            trouble = nil
            notices.append(.registryAnswers)
        }
        return request.purpose
    }

    /// Whether an answer shows that look-ups work.
    ///
    /// While look-ups fail, and while one waits, one of another kind says nothing about them. But a worker without
    /// events asks for nothing else, and must not be unready for good because the registry was slow once.
    private func isProof(_ purpose: Purpose) -> Bool {
        !purpose.isBackground || (trouble == .slow && oldest == nil)
    }

    /// A look-up failed.
    ///
    /// - Parameters:
    ///   - error: the reason.
    ///   - waits: whether no batch is asked for until the registry is tried again.
    ///   - now: the time.
    ///   - notices: receives the registry's notices.
    mutating func lookUpFailed(
        _ error: RegistryError, waits: Bool, at now: MonotonicTime, into notices: inout [PipelineNotice]
    ) {
        trouble = .failing
        notices.append(.registryFailed(error))
        if waits { retryAt = now.advanced(byNanoseconds: repeatDelayNanoseconds) }
    }

    /// Drops the answers to some requests when they come.
    mutating func abandon(_ isMeant: (Purpose) -> Bool) { pending = pending.filter { !isMeant($0.value.purpose) } }

    /// Time has passed.
    mutating func tick(at now: MonotonicTime, into notices: inout [PipelineNotice]) {
        if let time = retryAt, time <= now { retryAt = nil }
        guard trouble == nil, isOverdue(oldest, now) else { return }
        trouble = .slow
        notices.append(.registryIsSlow)
    }

    private func isOverdue(_ asked: MonotonicTime?, _ now: MonotonicTime) -> Bool {
        asked.map { now.milliseconds(since: $0) >= Self.patienceMilliseconds } ?? false
    }
}
