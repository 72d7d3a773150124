/// The origins that an app's pushes go to now, and how each of them does: a value that gets the time as an argument.
///
/// An *origin* is a push service as one app uses it, so that neither services nor apps hold each other up.
///
/// - Their number is bounded. A new origin takes the place of the one that was used least recently, among those with
///   no push out; if there is none, its pushes end as not processed.
/// - An origin in trouble takes a few pushes at a time, as probes, and the rest end at once as not processed. It is in
///   trouble while the client cannot connect to it, or while it has answered nothing for `patienceNanoseconds`.
/// - An app's route *leads nowhere* if one of its known origins cannot be reached, and none can. Other origins do not
///   count: anybody may name one that does not exist. As no pushes come then, an unreachable origin is forgotten after
///   `unreachableNanoseconds` without any, and the route leads somewhere again until pushes prove the opposite.
struct OriginTable {
    /// What distinguishes two origins.
    struct Key: Hashable {
        var app: Int
        var audience: VAPIDAudience
    }

    /// One origin.
    struct Origin {
        let key: Key
        /// Whether an operator has named it, or it is one of the large browsers'.
        let isKnown: Bool
        /// How many pushes have not ended.
        var outstanding = 0
        /// Whether the client can connect to it; nil if that is not known.
        var isReachable: Bool?
        /// Until when it gets its pushes over HTTP/1.1, because it did not speak HTTP/2.
        var http1UntilNanoseconds: UInt64 = 0
        /// Since when something has been out without any answer.
        var silentSinceNanoseconds: UInt64
        var usedNanoseconds: UInt64
    }

    /// Where a push may go.
    enum Place: Equatable {
        /// This origin.
        case found(Int)
        /// This origin, which is new; the place of a dropped one may have become free.
        case opened(Int, dropped: Int?)
        /// Nowhere: every place has a push out.
        case full
    }

    /// The pushes that an origin in trouble gets at the same time.
    static let probesMaximum = 8
    /// How long an origin with pushes out may answer nothing.
    static let patienceNanoseconds: UInt64 = 5_000_000_000
    /// How long an origin is kept that has nothing to do.
    static let idleNanoseconds: UInt64 = 600_000_000_000
    /// The same of one that cannot be reached.
    static let unreachableNanoseconds: UInt64 = 30_000_000_000
    /// How long HTTP/2 is not tried again at an origin that did not speak it.
    static let http1Nanoseconds: UInt64 = 3_600_000_000_000

    /// The origins by their places; nil for a free place.
    private(set) var origins: [Origin?] = []
    private var places: [Key: Int] = [:]
    private let originsMaximum: Int

    /// Creates a table of at least one place.
    init(originsMaximum: Int) { self.originsMaximum = max(1, originsMaximum) }

    /// Finds or makes the origin of a push.
    mutating func place(of key: Key, isKnown: Bool, nowNanoseconds: UInt64) -> Place {
        if let place = places[key] { return .found(place) }
        var dropped: Int?
        if places.count >= originsMaximum {
            guard let oldest = leastRecentlyUsed() else { return .full }
            drop(oldest)
            dropped = oldest
        }
        let place = origins.firstIndex { $0 == nil } ?? origins.count
        if place == origins.count { origins.append(nil) }
        origins[place] = Origin(
            key: key, isKnown: isKnown, silentSinceNanoseconds: nowNanoseconds, usedNanoseconds: nowNanoseconds)
        places[key] = place
        return .opened(place, dropped: dropped)
    }

    private func leastRecentlyUsed() -> Int? {
        origins.indices.filter { origins[$0]?.outstanding == 0 }
            .min { (origins[$0]?.usedNanoseconds ?? 0) < (origins[$1]?.usedNanoseconds ?? 0) }
    }

    /// Forgets an origin, which has no push out.
    mutating func drop(_ place: Int) {
        guard let key = origins[place]?.key else { return }
        places[key] = nil
        origins[place] = nil
    }

    /// Counts a push, unless the origin is in trouble and has its probes.
    ///
    /// - Returns: why it must not go out; nil if it may.
    mutating func begin(_ place: Int, nowNanoseconds: UInt64) -> String? {
        guard var origin = origins[place] else { return "its origin is gone" }
        if origin.outstanding >= Self.probesMaximum {
            if origin.isReachable == false { return "its push service cannot be reached" }
            if nowNanoseconds >= origin.silentSinceNanoseconds &+ Self.patienceNanoseconds {
                return "its push service does not answer"
            }
        }
        if origin.outstanding == 0 { origin.silentSinceNanoseconds = nowNanoseconds }
        origin.outstanding += 1
        origin.usedNanoseconds = nowNanoseconds
        origins[place] = origin
        return nil
    }

    /// A push has ended; `isAnswered` says whether by an answer.
    mutating func end(_ place: Int, isAnswered: Bool, nowNanoseconds: UInt64) {
        guard origins[place] != nil else { return }
        origins[place]?.outstanding -= 1
        origins[place]?.usedNanoseconds = nowNanoseconds
        if isAnswered { origins[place]?.silentSinceNanoseconds = nowNanoseconds }
    }

    // MARK: Reachability

    /// Whether an origin gets its pushes over HTTP/1.1.
    func usesHTTP1(_ place: Int, nowNanoseconds: UInt64) -> Bool {
        origins[place].map { nowNanoseconds < $0.http1UntilNanoseconds } ?? false
    }

    /// A client has found out whether it can connect to an origin.
    ///
    /// - Parameters:
    ///   - place: the origin.
    ///   - isReachable: whether it can.
    ///   - isHTTP1: whether it is the client for HTTP/1.1. Only the client that the origin needs has a say.
    ///   - nowNanoseconds: the time.
    mutating func reachabilityChanged(_ place: Int, isReachable: Bool, isHTTP1: Bool = false, nowNanoseconds: UInt64) {
        if isReachable, !isHTTP1 { origins[place]?.http1UntilNanoseconds = 0 }
        guard usesHTTP1(place, nowNanoseconds: nowNanoseconds) == isHTTP1 else { return }
        origins[place]?.isReachable = isReachable
    }

    /// The origin did not negotiate HTTP/2, so pushes go to it over HTTP/1.1 for a while.
    mutating func http2IsMissing(_ place: Int, nowNanoseconds: UInt64) {
        origins[place]?.http1UntilNanoseconds = nowNanoseconds &+ Self.http1Nanoseconds
        origins[place]?.isReachable = nil
    }

    /// Whether the route of an app leads somewhere; nil if that is not known.
    func isReachable(app: Int) -> Bool? {
        let states = origins.compactMap { $0 }.filter { $0.key.app == app }
        if states.contains(where: { $0.isReachable == true }) { return true }
        return states.contains { $0.isKnown && $0.isReachable == false } ? false : nil
    }

    // MARK: Time

    /// Drops the origins that have been idle for too long.
    ///
    /// - Returns: their places.
    mutating func timePassed(nowNanoseconds: UInt64) -> [Int] {
        let idle = origins.indices.filter { place in
            guard let origin = origins[place], origin.outstanding == 0 else { return false }
            let limit = origin.isReachable == false ? Self.unreachableNanoseconds : Self.idleNanoseconds
            return nowNanoseconds >= origin.usedNanoseconds &+ limit
        }
        for place in idle { drop(place) }
        return idle
    }
}
