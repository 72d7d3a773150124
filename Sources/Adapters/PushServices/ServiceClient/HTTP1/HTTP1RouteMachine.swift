internal import Essentials

/// Decides when the pushes of one route go out: a value that gets the time as an argument.
///
/// A route begins *down*. A probe, which makes a connection and sends nothing, takes it *up*; a push that could not be
/// sent takes it down again, and waits at the head of the queue for the next probe. So no push is spent on finding out
/// whether the service can be reached, and pushes need not come for a route to recover.
struct HTTP1RouteMachine {
    /// The fate of a push that was not processed.
    enum Fate: Hashable {
        /// It waits for its turn.
        case waits
        /// It is forgotten here, and its result has to be reported.
        case ends
    }

    /// The failures to connect in a row after which the route is said to lead nowhere.
    static let failuresUntilUnreachable = 3

    private struct Push {
        let waitsUntilNanoseconds: UInt64
        /// Whether it was sent again because the service had not looked at it.
        var isSentAgain = false
    }

    private enum State {
        case up
        case down(failures: Int, probeAtNanoseconds: UInt64)
        case probing(failures: Int)
    }

    private(set) var limits: HTTP1Limits
    private let backOff = BackOff()
    private var random: SplitMix
    private var state: State
    private var pushes: [Push?] = []
    private var free: [Int] = []
    /// Pushes that were under way already, the next one last.
    private var returned: [Int] = []
    private var arrivals: [Int] = []
    /// The index of the first of `arrivals` that still waits.
    private var arrivalsHead = 0
    private(set) var inFlightCount = 0
    private(set) var isClosing = false
    /// Whether the route leads to its service; nil before that is known.
    private(set) var isReachable: Bool?

    init(limits: HTTP1Limits, seed: UInt64) {
        self.limits = limits
        random = SplitMix(seed: seed)
        state = .down(failures: 0, probeAtNanoseconds: 0)
    }

    /// The pushes that wait.
    var waitingCount: Int { returned.count + arrivals.count - arrivalsHead }
    /// Whether no push is under way and none waits.
    var isIdle: Bool { inFlightCount == 0 && waitingCount == 0 }

    /// When time has something to do here next.
    var wakeUpNanoseconds: UInt64 {
        var due = oldestWaiting.flatMap { pushes[$0]?.waitsUntilNanoseconds } ?? .max
        if case .down(_, let probeAt) = state, !isClosing { due = min(due, probeAt) }
        return due
    }

    /// A push may wait, and then its answer may take, as long as this from now on; those that wait keep their time.
    mutating func deadlineChanged(toNanoseconds deadline: UInt64) { limits.deadlineNanoseconds = deadline }

    // MARK: Pushes

    /// A push has come.
    ///
    /// - Returns: its number; nil if it is one too many, or the route closes.
    mutating func arrived(nowNanoseconds: UInt64) -> Int? {
        guard !isClosing, waitingCount + inFlightCount < limits.outstandingMaximum else { return nil }
        let push = Push(waitsUntilNanoseconds: nowNanoseconds &+ limits.deadlineNanoseconds)
        let number = free.popLast() ?? pushes.count
        if number == pushes.count { pushes.append(push) } else { pushes[number] = push }
        arrivals.append(number)
        return number
    }

    /// The push to send now; nil if none may go.
    mutating func next() -> Int? {
        guard case .up = state, inFlightCount < limits.concurrentRequestsMaximum, let number = takeWaiting() else {
            return nil
        }
        inFlightCount += 1
        return number
    }

    /// The service has answered a push, which is forgotten.
    mutating func answered(_ push: Int) {
        inFlightCount -= 1
        forget(push)
        isReachable = true
        if case .down = state { state = .up }
    }

    /// The service has not looked at a push, because its authorization had expired, or because the connection is not
    /// for this origin.
    ///
    /// - Returns: whether it waits again, which it does once; if it ends, its answer counts.
    mutating func answeredUnprocessed(_ push: Int) -> Fate {
        guard !isClosing, pushes[push]?.isSentAgain == false else {
            answered(push)
            return .ends
        }
        inFlightCount -= 1
        pushes[push]?.isSentAgain = true
        returned.append(push)
        return .waits
    }

    /// A push was not sent.
    mutating func notSent(_ push: Int, nowNanoseconds: UInt64) -> Fate {
        inFlightCount -= 1
        if case .up = state { failed(failures: 1, nowNanoseconds) }
        guard !isClosing else {
            forget(push)
            return .ends
        }
        returned.append(push)
        return .waits
    }

    /// A push has ended without an answer, which says nothing of the way to the service; it is forgotten.
    mutating func ended(_ push: Int) {
        inFlightCount -= 1
        forget(push)
    }

    /// Forgets the pushes that have waited too long.
    ///
    /// - Returns: their numbers.
    mutating func expired(nowNanoseconds: UInt64) -> [Int] {
        func isOver(_ number: Int) -> Bool { pushes[number].map { $0.waitsUntilNanoseconds <= nowNanoseconds } ?? true }
        var expired = returned.filter(isOver)
        if !expired.isEmpty { returned.removeAll(where: isOver) }
        while arrivalsHead < arrivals.count, isOver(arrivals[arrivalsHead]) {
            expired.append(arrivals[arrivalsHead])
            advanceArrivals()
        }
        for number in expired { forget(number) }
        if !expired.isEmpty, !isUp { isReachable = false }
        return expired
    }

    /// Forgets all pushes that wait.
    ///
    /// - Returns: their numbers.
    mutating func abandonWaiting() -> [Int] {
        let abandoned = returned.reversed() + arrivals[arrivalsHead...]
        returned = []
        arrivals = []
        arrivalsHead = 0
        for number in abandoned { forget(number) }
        return Array(abandoned)
    }

    /// From now on nothing new is begun.
    mutating func close() { isClosing = true }

    // MARK: Probes

    /// Whether a probe has to begin; then one has begun.
    mutating func beginsProbe(nowNanoseconds: UInt64) -> Bool {
        guard !isClosing, case .down(let failures, let probeAt) = state, probeAt <= nowNanoseconds else { return false }
        state = .probing(failures: failures)
        return true
    }

    /// A probe has ended.
    mutating func probed(isSuccess: Bool, nowNanoseconds: UInt64) {
        guard case .probing(let failures) = state else { return }
        if isSuccess {
            state = .up
            isReachable = true
        } else {
            failed(failures: failures + 1, nowNanoseconds)
        }
    }

    private mutating func failed(failures: Int, _ nowNanoseconds: UInt64) {
        let wait = backOff.waitNanoseconds(afterFailures: failures, using: &random)
        state = .down(failures: failures, probeAtNanoseconds: nowNanoseconds &+ wait)
        if failures >= Self.failuresUntilUnreachable { isReachable = false }
    }

    // MARK: The queue

    private var isUp: Bool { if case .up = state { true } else { false } }

    private var oldestWaiting: Int? {
        let arrival = arrivalsHead < arrivals.count ? arrivals[arrivalsHead] : nil
        // They were under way before the others came; among themselves their order hardly differs.
        return returned.min { (pushes[$0]?.waitsUntilNanoseconds ?? 0) < (pushes[$1]?.waitsUntilNanoseconds ?? 0) }
            ?? arrival
    }

    private mutating func takeWaiting() -> Int? {
        if let number = returned.popLast() { return number }
        guard arrivalsHead < arrivals.count else { return nil }
        defer { advanceArrivals() }
        return arrivals[arrivalsHead]
    }

    private mutating func advanceArrivals() {
        arrivalsHead += 1
        guard arrivalsHead == arrivals.count || arrivalsHead >= 4_096 else { return }
        arrivals.removeFirst(arrivalsHead)
        arrivalsHead = 0
    }

    private mutating func forget(_ number: Int) {
        pushes[number] = nil
        free.append(number)
    }
}
