import Notifications

/// The authorization of a route's requests, over HTTP/2 and HTTP/1.1: when to ask the authorizer, what a refusal means,
/// and how waiting pushes end.
struct RouteAuthorization {
    /// The news in an answer of the authorizer.
    struct News: Equatable {
        /// Why requests cannot be authenticated; nil if they can, or if it was known.
        var problem: String?
        /// Whether the authorization has another key than the one before.
        var isOtherKey = false
    }

    /// How often the authorizer is asked, so that a new authorization is used soon and a push costs no look at it.
    static let checkNanoseconds: UInt64 = 1_000_000_000

    /// The authorization of the next request; nil if there is none.
    private(set) var current: Authorization?
    /// How pushes end because there is none, as far as is known; kept while the authorizer tries again.
    private var problem: AttemptOutcome?
    /// Whether the authorizer tries, and will call back.
    private var isPending = false
    private var dueNanoseconds: UInt64 = 0

    /// How waiting pushes end, because none of them can be authenticated: RabbitMQ keeps them better than memory does.
    ///
    /// Nil if they can go out, or if it is not known yet.
    var waitingOutcome: AttemptOutcome? { current == nil && !isPending ? problem : nil }

    /// Why there is no authorization; nil if there is one.
    var absence: String? { current == nil ? reason ?? "there is no authorization" : nil }

    private var reason: String? {
        switch problem {
        case .answered(let answer): answer.reason
        case .notProcessed(let reason): reason
        default: nil
        }
    }

    /// Whether the route leads nowhere because of it.
    var isUnavailable: Bool { if case .notProcessed = problem { true } else { false } }

    // MARK: Questions

    /// When the authorizer has to be asked although no push waits: pushes stay away from a route that leads nowhere.
    var recheckNanoseconds: UInt64 { isUnavailable ? dueNanoseconds : .max }

    /// Decides whether to ask the authorizer now.
    ///
    /// - Parameters:
    ///   - isNeeded: whether a push waits, or will soon.
    ///   - nowNanoseconds: the monotonic clock.
    /// - Returns: whether it is time; then it is time again after `checkNanoseconds`.
    mutating func isDue(isNeeded: Bool, nowNanoseconds: UInt64) -> Bool {
        guard isNeeded || isUnavailable, nowNanoseconds >= dueNanoseconds else { return false }
        dueNanoseconds = nowNanoseconds &+ Self.checkNanoseconds
        return true
    }

    /// The authorizer may have something new, so it is asked with the next occasion.
    mutating func mayHaveChanged() { dueNanoseconds = 0 }

    // MARK: Answers

    /// The authorizer answered.
    mutating func answered(_ state: AuthorizationState) -> News {
        var news = News()
        let before = problem
        isPending = false
        switch state {
        case .ready(let newest):
            news.isOtherKey = current.map { $0.keyGeneration != newest.keyGeneration } ?? false
            (current, problem) = (newest, nil)
        case .pending:
            (current, isPending) = (nil, true)
        case .unavailable(let reason): (current, problem) = (nil, .notProcessed(reason))
        case .refused(let reason): (current, problem) = (nil, .answered(PushAnswer(status: 401, reason: reason)))
        }
        if problem != before { news.problem = reason }
        return news
    }

    /// Decides what the refusal of an authorization means for its push.
    ///
    /// - Parameters:
    ///   - meaning: the meaning of the answer.
    ///   - connection: the authorization as the connection of the answer knows it.
    ///   - stream: the stream of the answer.
    ///   - renewed: the authorizer's answer, if it was told that the authorization has expired.
    /// - Returns: whether the push is worth another try; if not, its answer counts.
    static func isWorthAnotherTry(
        _ meaning: AnswerMeaning, on connection: ConnectionAuthorization, stream: Int32 = 0,
        renewed: AuthorizationState?
    ) -> Bool {
        if meaning.contains(.authorizationExpired), connection.isOutdated(on: stream) { return true }
        if meaning.contains(.connectionWedged), connection.isProven { return true }
        switch renewed {
        case .ready(let newest): return newest.generation > connection.generation
        case .pending: return true
        case .unavailable, .refused, nil: return false
        }
    }
}

/// The authorization of one connection: what was sent on it, and what the answers said.
struct ConnectionAuthorization {
    /// After how many refusals in a row a connection is replaced that accepted the authorization before.
    private static let refusalsOfProvenMaximum = 3

    /// The generation of the authorization that was sent last.
    private(set) var generation: UInt64 = 0
    /// The first stream that it was sent on.
    private var firstStream: Int32 = 0
    /// Whether an answer has shown that the peer accepts our authorization.
    private(set) var isProven = false
    /// How many answers in a row have refused it.
    private var refusalsInARow = 0

    /// A request was sent.
    ///
    /// - Parameters:
    ///   - generation: the generation of its authorization.
    ///   - stream: its stream.
    mutating func sent(_ generation: UInt64, on stream: Int32 = 0) {
        guard generation != self.generation else { return }
        self.generation = generation
        firstStream = stream
    }

    /// Whether a newer authorization was sent after the request of a stream: streams are numbered in the order of their
    /// requests (RFC 9113 section 5.1.1).
    func isOutdated(on stream: Int32) -> Bool { stream < firstStream }

    /// An answer was given to an authorized request.
    mutating func accepted() {
        isProven = true
        refusalsInARow = 0
    }

    /// An answer refused the authorization.
    ///
    /// One server of a service may err, so the next attempt has to reach another.
    ///
    /// - Parameters:
    ///   - refusalsMaximum: how many of an unproven connection are enough.
    ///   - replacesUnproven: whether an unproven connection is replaced at all: APNs ends those by itself.
    /// - Returns: whether the connection is to be replaced now.
    mutating func refused(refusalsMaximum: Int, replacesUnproven: Bool) -> Bool {
        refusalsInARow += 1
        guard isProven else { return replacesUnproven && refusalsInARow == refusalsMaximum }
        return refusalsInARow == Self.refusalsOfProvenMaximum
    }
}
