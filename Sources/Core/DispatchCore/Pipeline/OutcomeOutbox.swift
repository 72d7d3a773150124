import Essentials
import RegistryCore

/// Between the machine and the outcomes that wait in the registry while the broker takes no messages.
///
/// | it is | means | can transition to |
/// |---|---|---|
/// | idle | nothing is asked | asked, at `dueAt`; the broker has to take messages |
/// | asked | the registry looks for outcomes that wait | idle, if there are none; restoring |
/// | restoring | they are published | removing, when the broker has all of them |
/// | removing | the registry forgets them | asked |
struct OutcomeOutbox: Sendable {
    /// How often the registry is asked whether another worker has left outcomes there, in milliseconds.
    static let intervalMilliseconds: UInt64 = 30_000
    /// How many outcomes are added or taken at once.
    static let outcomesAtOnce = 256

    enum State: Hashable, Sendable {
        case idle, asked, restoring, removing
    }

    /// Whether outcomes wait in the registry at all.
    let isOn: Bool
    var state = State.idle
    /// When the registry is asked next; it may have some from before this worker started.
    var dueAt = MonotonicTime(nanoseconds: 0)
    /// Outcomes to be added with the next request.
    private var adding: [(identifier: UInt64, outcome: WaitingOutcome)] = []
    private var isAdding = false

    init(isOn: Bool) { self.isOn = isOn }

    /// Whether nothing is to be added, or restored.
    var isIdle: Bool { adding.isEmpty && !isAdding && (state == .idle || state == .asked) }

    /// When the registry is to be asked, if the broker takes messages; nil while something is under way.
    var nextDeadline: MonotonicTime? { isOn && state == .idle ? dueAt : nil }

    /// Adds outcomes.
    mutating func add(_ outcomes: [(identifier: UInt64, outcome: WaitingOutcome)]) { adding += outcomes }

    /// The next outcomes to add; none while some are added.
    mutating func nextToAdd() -> [(identifier: UInt64, outcome: WaitingOutcome)] {
        guard !isAdding, !adding.isEmpty else { return [] }
        isAdding = true
        defer { adding.removeFirst(min(Self.outcomesAtOnce, adding.count)) }
        return Array(adding.prefix(Self.outcomesAtOnce))
    }

    /// The registry has answered; if it has taken them, there are some to restore when the broker takes messages again.
    mutating func added(_ areKept: Bool, at now: MonotonicTime) {
        isAdding = false
        if areKept { dueAt = now }
    }

    /// Nothing is under way any more.
    mutating func rest(at now: MonotonicTime) {
        state = .idle
        dueAt = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }
}

extension PipelineMachine {
    /// Adds outcomes to the registry, and restores those that wait there.
    mutating func tendOutbox(at now: Moment) {
        outbox.add(actions.dispatch.outcomesToStore)
        actions.dispatch.outcomesToStore.removeAll(keepingCapacity: true)
        let adding = outbox.nextToAdd()
        if !adding.isEmpty {
            ask(.addWaitingOutcomes(adding.map(\.outcome)), .addingOutcomes(adding.map(\.identifier)), at: now)
        }
        let restored = actions.dispatch.outcomesRestored
        actions.dispatch.outcomesRestored.removeAll(keepingCapacity: true)
        if !restored.isEmpty {
            outbox.state = .removing
            ask(.removeWaitingOutcomes(restored), .removingOutcomes, at: now)
        }
        guard mayRestoreOutcomes, let due = outbox.nextDeadline, due <= now.monotonic else { return }
        outbox.state = .asked
        ask(.takeWaitingOutcomes(limit: OutcomeOutbox.outcomesAtOnce), .findingOutcomes, at: now)
    }

    /// Whether outcomes that wait may be published: the broker takes messages, as far as is known.
    var mayRestoreOutcomes: Bool {
        hasReadPauses && !isDraining && areOutcomesWanted && !dispatch.outcomeFlow.isBlocked
            && !dispatch.outcomeFlow.isDropping
    }

    /// The registry answered a request to add outcomes.
    mutating func outcomesAdded(
        _ identifiers: [UInt64], _ result: Result<RegistryAnswer, RegistryError>, at now: Moment
    ) {
        var areKept = true
        if case .failure(let error) = result {
            areKept = false
            actions.notices.append(.outcomesNotStored(identifiers.count, error))
        }
        outbox.added(areKept, at: now.monotonic)
        dispatch.outcomesStored(identifiers, areKept: areKept, into: &actions.dispatch)
    }

    /// The registry answered which outcomes wait.
    mutating func waitingOutcomesFound(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        guard case .success(.waitingOutcomes(let outcomes)) = result, !outcomes.isEmpty, !isDraining else {
            return outbox.rest(at: now.monotonic)
        }
        outbox.state = .restoring
        dispatch.restoreOutcomes(outcomes, into: &actions.dispatch)
    }

    /// The registry has forgotten outcomes that the broker has; there may be more.
    mutating func waitingOutcomesRemoved(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        outbox.rest(at: now.monotonic)
        if case .success = result { outbox.dueAt = now.monotonic }
    }
}
