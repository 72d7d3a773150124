/// The state of a pool's authorization: when to ask the authorizer, and the outlook for pushes meanwhile.
struct PoolAuthorization {
    /// Why pushes cannot be authenticated.
    enum Problem: Hashable {
        /// Not for now; the authorizer tries again.
        case unavailable(reason: String)
        /// Not before an operator acts.
        case refused(reason: String)

        var reason: String {
            switch self {
            case .unavailable(let reason), .refused(let reason): reason
            }
        }
    }

    /// How often the authorizer is asked, so that a new authorization is used soon and a push costs no look at it.
    static let checkNanoseconds: UInt64 = 1_000_000_000

    /// The authorization of the next request; nil if there is none.
    private(set) var current: Authorization?
    /// Why there is none, as far as is known; kept while the authorizer tries again.
    private(set) var problem: Problem?
    /// Whether the authorizer tries, and will call back.
    private var isPending = false
    private var dueNanoseconds: UInt64 = 0

    /// Why waiting pushes cannot go out; nil if they can, or if it is not known yet.
    var hopeless: Problem? { current == nil && !isPending ? problem : nil }

    /// Whether the route leads nowhere because of it.
    var isUnavailable: Bool { if case .unavailable = problem { true } else { false } }

    /// When the authorizer has to be asked although no push waits: pushes stay away from a route that leads nowhere.
    var recheckNanoseconds: UInt64 { isUnavailable ? dueNanoseconds : .max }

    /// Whether it is time to ask the authorizer, and from when on it is again.
    mutating func isDue(nowNanoseconds: UInt64) -> Bool {
        guard nowNanoseconds >= dueNanoseconds else { return false }
        dueNanoseconds = nowNanoseconds &+ Self.checkNanoseconds
        return true
    }

    /// The authorizer may have something new, so it is asked with the next occasion.
    mutating func mayHaveChanged() { dueNanoseconds = 0 }

    /// The authorizer answered.
    ///
    /// - Returns: whether the new authorization has another key than the one before.
    mutating func answered(_ state: AuthorizationState) -> Bool {
        var isOtherKey = false
        isPending = false
        switch state {
        case .ready(let newest):
            isOtherKey = current.map { $0.keyGeneration != newest.keyGeneration } ?? false
            (current, problem) = (newest, nil)
        case .pending:
            (current, isPending) = (nil, true)
        case .unavailable(let reason): (current, problem) = (nil, .unavailable(reason: reason))
        case .refused(let reason): (current, problem) = (nil, .refused(reason: reason))
        }
        return isOtherKey
    }
}
