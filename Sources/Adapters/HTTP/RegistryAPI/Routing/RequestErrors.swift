import Essentials
import Synchronization

/// How many requests there were, and how many of them were answered with 5xx.
struct RequestCounts: Hashable, Sendable {
    var requests = 0
    var errors = 0

    mutating func add(_ other: RequestCounts, less earlier: RequestCounts = RequestCounts()) {
        requests += other.requests - earlier.requests
        errors += other.errors - earlier.errors
    }
}

/// Finds out whether the API answered too many requests of the last half minute to minute with an error of its own.
///
/// Errors are too many if they are more than a twentieth of the requests, and at least five: a few of very few requests
/// prove nothing.
struct RecentErrors: Hashable, Sendable {
    /// The length of a half of the window, in milliseconds.
    static let halfMilliseconds: Int64 = 30_000
    /// The fewest errors that are too many.
    static let errorsMinimum = 5
    /// Errors are too many if there is one for each so many requests.
    static let requestsPerError = 20

    private var began = MonotonicTime(nanoseconds: 0)
    private var last = RequestCounts()
    private var earlierHalf = RequestCounts()
    private var presentHalf = RequestCounts()

    /// Takes the counts since the start as they are now; to be called once a second.
    ///
    /// - Returns: the counts of the window if errors are too many; else nil.
    mutating func look(_ totals: RequestCounts, at now: MonotonicTime) -> RequestCounts? {
        let elapsed = now.milliseconds(since: began)
        if elapsed >= Self.halfMilliseconds {
            earlierHalf = elapsed >= 2 * Self.halfMilliseconds ? RequestCounts() : presentHalf
            presentHalf = RequestCounts()
            began = now
        }
        presentHalf.add(totals, less: last)
        last = totals
        var window = earlierHalf
        window.add(presentHalf)
        let areMany = window.errors >= Self.errorsMinimum && window.errors * Self.requestsPerError > window.requests
        return areMany ? window : nil
    }
}

/// The answers of one server of the API: any thread counts them and asks, and a loop of the server looks.
final class RequestErrors: Sendable {
    private let requests = Atomic<Int>(0)
    private let errors = Atomic<Int>(0)
    private let state = Mutex<(recent: RecentErrors, problem: String?)>((RecentErrors(), nil))

    /// Why the requests are in trouble, for an operator; nil if they are not.
    var problem: String? { state.withLock { $0.problem } }

    /// A request was answered.
    func answered(status: Int) {
        requests.wrappingAdd(1, ordering: .relaxed)
        if status >= 500 { errors.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Looks whether errors are too many.
    ///
    /// - Returns: whether that has changed.
    func look(at now: MonotonicTime) -> Bool {
        let totals = RequestCounts(
            requests: requests.load(ordering: .relaxed), errors: errors.load(ordering: .relaxed))
        return state.withLock { state in
            let wasProblem = state.problem != nil
            state.problem = state.recent.look(totals, at: now).map { window in
                "\(window.errors) of the last \(window.requests) requests were answered with 5xx"
            }
            return wasProblem != (state.problem != nil)
        }
    }
}
