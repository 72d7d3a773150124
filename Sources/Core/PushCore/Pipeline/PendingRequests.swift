import Essentials

/// The requests to the registry that are not answered, and what they say of the registry.
///
/// | the registry is | means | can transition to |
/// |---|---|---|
/// | well | it answers look-ups in time | in trouble, when a look-up fails or a request waits for a second |
/// | in trouble | readiness names it | well, when an answer comes in time and no request waits for too long |
struct PendingRequests: Sendable {
    /// What an answer is for.
    enum Purpose: Hashable, Sendable {
        case subscriptions
        case batch
        case page(DeliveryTag)
        case plan(UInt64)
        case endings
        case pruning(tokenCount: Int)
    }

    /// After how long a request that is not answered means that the registry is in trouble.
    static let patienceMilliseconds: Int64 = 1_000

    private struct Request: Sendable {
        let purpose: Purpose
        let asked: MonotonicTime
    }

    private let repeatDelayNanoseconds: UInt64
    private var pending: [UInt64: Request] = [:]
    private var lastNumber: UInt64 = 0
    private var isInTrouble = false
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
        let overdue = isInTrouble ? nil : oldest?.advanced(byMilliseconds: UInt64(Self.patienceMilliseconds))
        return [retryAt, overdue].compactMap(\.self).min()
    }

    private var oldest: MonotonicTime? { pending.values.lazy.map(\.asked).min() }

    // MARK: What happened

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
    ///   - notices: takes what is to be shown of the registry.
    /// - Returns: the purpose of the request; nil if it was abandoned.
    mutating func answered(
        _ number: UInt64, isSuccess: Bool, at now: MonotonicTime, into notices: inout [PipelineNotice]
    ) -> Purpose? {
        guard let request = pending.removeValue(forKey: number) else { return nil }
        if isSuccess, isInTrouble, !isOverdue(request.asked, now), !isOverdue(oldest, now) {
            isInTrouble = false
            notices.append(.registryAnswers)
        }
        return request.purpose
    }

    /// A look-up failed.
    ///
    /// - Parameters:
    ///   - error: the reason.
    ///   - waits: whether no batch is asked for until the registry is tried again.
    ///   - now: the time.
    ///   - notices: takes what is to be shown of the registry.
    mutating func lookUpFailed(
        _ error: RegistryError, waits: Bool, at now: MonotonicTime, into notices: inout [PipelineNotice]
    ) {
        isInTrouble = true
        notices.append(.registryFailed(error))
        if waits { retryAt = now.advanced(byNanoseconds: repeatDelayNanoseconds) }
    }

    /// Drops the answers to some requests when they come.
    mutating func abandon(_ isMeant: (Purpose) -> Bool) { pending = pending.filter { !isMeant($0.value.purpose) } }

    /// Time has passed.
    mutating func tick(at now: MonotonicTime, into notices: inout [PipelineNotice]) {
        if let time = retryAt, time <= now { retryAt = nil }
        guard !isInTrouble, isOverdue(oldest, now) else { return }
        isInTrouble = true
        notices.append(.registryIsSlow)
    }

    private func isOverdue(_ asked: MonotonicTime?, _ now: MonotonicTime) -> Bool {
        asked.map { now.milliseconds(since: $0) >= Self.patienceMilliseconds } ?? false
    }
}
