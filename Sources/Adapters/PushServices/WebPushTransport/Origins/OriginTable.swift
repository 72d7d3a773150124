import Notifications

/// The origins that the apps' pushes go to now, and which of them may have a place: a value that gets the time as an
/// argument.
///
/// An *origin* is a push service as one app uses it, so that neither services nor apps hold each other up. A browser
/// names it, so anybody can make up any number of them, which never answer and whose names never resolve.
///
/// - A *reserved* origin always gets a place: one whose host is known by its whole name, or by its suffix once it has
///   accepted a push of the app. Their number is bounded by the configuration and by the services themselves.
/// - All others share places, and are bounded by `OriginQuotas`. An origin that has not accepted anything is
///   *unproven*, and has tighter bounds and less time. The origin that was used least recently makes room, among those
///   that press the same bound and have no push out; if there is none, the pushes of the new one end as not processed.
/// - An origin in trouble takes a few pushes at a time, as probes, and the rest end at once as not processed. It is in
///   trouble while the client cannot connect to it, or while it has answered nothing for `patienceNanoseconds`.
struct OriginTable {
    struct Key: Hashable {
        var app: Int
        var audience: VAPIDAudience
    }

    /// One origin.
    struct Origin {
        let key: Key
        /// The standing of its host.
        let standing: PushHostRule.Standing
        /// The owner of its host (`OriginQuotas.owner`).
        let owner: String
        /// Whether it has accepted a push lately, now or in an earlier place.
        var isProven: Bool
        /// How many pushes have not ended.
        var outstanding = 0
        /// Whether the client can connect to it; nil if that is not known.
        var isReachable: Bool?
        /// Until when it gets its pushes over HTTP/1.1, because it did not speak HTTP/2.
        var http1UntilNanoseconds: UInt64 = 0
        /// Since when something has been out without any answer.
        var silentSinceNanoseconds: UInt64
        var usedNanoseconds: UInt64

        /// Whether it is a stranger's, and has not accepted anything.
        var isUnproven: Bool { !isProven && standing == .stranger }

        /// Whether it has its place beside all quotas, and closes the route of its app when it cannot be reached.
        var isReserved: Bool {
            switch standing {
            case .named: true
            case .below: isProven
            case .stranger: false
            }
        }
    }

    /// Where a push may go.
    enum Place: Equatable {
        /// This origin.
        case found(Int)
        /// This origin, which is new; the place of a dropped one may have become free.
        case opened(Int, dropped: Int?)
        /// Nowhere: this bound is met, and all that press it have pushes out.
        case full(OriginQuotas.Bound)
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
    var origins: [Origin?] = []
    private var places: [Key: Int] = [:]
    private let quotas: OriginQuotas
    private var proven = ProvenOrigins()
    /// How many pushes of each app are out to origins that have not accepted anything.
    private var unprovenOutstanding: [Int: Int] = [:]

    /// Creates a table.
    ///
    /// - Parameter originsMaximum: how many origins that are not reserved have a place.
    init(originsMaximum: Int) { quotas = OriginQuotas(originsMaximum: originsMaximum) }

    // MARK: Places

    /// Finds or makes the origin of a push.
    mutating func place(of key: Key, _ standing: PushHostRule.Standing, nowNanoseconds: UInt64) -> Place {
        if let place = places[key] { return .found(place) }
        let owner = OriginQuotas.owner(of: key.audience.host)
        let origin = Origin(
            key: key, standing: standing, owner: owner, isProven: proven.contains(key),
            silentSinceNanoseconds: nowNanoseconds, usedNanoseconds: nowNanoseconds)
        var dropped: Int?
        if let bound = quotas.bound(metBy: origin, among: origins) {
            guard let oldest = leastRecentlyUsed(pressing: bound, for: origin) else { return .full(bound) }
            drop(oldest)
            dropped = oldest
        }
        let place = origins.firstIndex { $0 == nil } ?? origins.count
        if place == origins.count { origins.append(nil) }
        origins[place] = origin
        places[key] = place
        return .opened(place, dropped: dropped)
    }

    /// The origin that makes room: of those that have not accepted anything, before the others.
    private func leastRecentlyUsed(pressing bound: OriginQuotas.Bound, for origin: Origin) -> Int? {
        func rank(_ place: Int) -> (Int, UInt64) {
            (origins[place]?.isProven == true ? 1 : 0, origins[place]?.usedNanoseconds ?? 0)
        }
        return origins.indices.filter { place in
            origins[place].map { $0.outstanding == 0 && OriginQuotas.counts($0, for: origin, bound) } ?? false
        }.min { rank($0) < rank($1) }
    }

    /// Forgets an origin, which has no push out.
    mutating func drop(_ place: Int) {
        guard let key = origins[place]?.key else { return }
        places[key] = nil
        origins[place] = nil
    }

    // MARK: Pushes

    /// Counts a push, unless the origin is in trouble and has its probes.
    ///
    /// - Returns: how it ends at once if it must not go out; nil if it may.
    mutating func begin(_ place: Int, nowNanoseconds: UInt64) -> AttemptOutcome? {
        guard var origin = origins[place] else { return .notProcessed("its origin is gone") }
        if origin.outstanding >= Self.probesMaximum {
            if origin.isReachable == false { return ending(place, "its push service cannot be reached") }
            if nowNanoseconds >= origin.silentSinceNanoseconds &+ Self.patienceNanoseconds {
                return ending(place, "its push service does not answer")
            }
        }
        if origin.isUnproven {
            guard unprovenOutstanding[origin.key.app, default: 0] < OriginQuotas.unprovenPushesMaximum else {
                return .crowdedOut("too many pushes are out to push services that have not accepted any")
            }
            unprovenOutstanding[origin.key.app, default: 0] += 1
        }
        if origin.outstanding == 0 { origin.silentSinceNanoseconds = nowNanoseconds }
        origin.outstanding += 1
        origin.usedNanoseconds = nowNanoseconds
        origins[place] = origin
        return nil
    }

    /// How a push ends that was not processed.
    ///
    /// A stranger's address is to blame if it cannot be reached, or never accepted anything, while others can be: then
    /// not our own way out is in trouble. Other origins are in trouble for a while, and pushes wait for them without
    /// spending attempts.
    func ending(_ place: Int, _ reason: String) -> AttemptOutcome {
        guard let origin = origins[place], origin.standing == .stranger,
            origin.isReachable == false || !origin.isProven,
            origins.contains(where: { $0?.isReachable == true })
        else { return .notProcessed(reason) }
        return .unreachable(reason)
    }

    /// A push has ended; `isAnswered` says whether by an answer.
    mutating func end(_ place: Int, isAnswered: Bool, nowNanoseconds: UInt64) {
        guard origins[place] != nil else { return }
        origins[place]?.outstanding -= 1
        origins[place]?.usedNanoseconds = nowNanoseconds
        if isAnswered { origins[place]?.silentSinceNanoseconds = nowNanoseconds }
        guard let app = origins[place]?.key.app, origins[place]?.isUnproven == true else { return }
        unprovenOutstanding[app, default: 0] -= 1
    }

    /// The origin has accepted a push.
    ///
    /// - Returns: whether it was unproven before.
    mutating func accepted(_ place: Int) -> Bool {
        guard origins[place]?.isProven == false, let origin = origins[place] else { return false }
        origins[place]?.isProven = true
        proven.insert(origin.key)
        if origin.isUnproven { unprovenOutstanding[origin.key.app, default: 0] -= origin.outstanding }
        return true
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

/// Which origins have accepted a push of an app lately, by hash values: some thousand bytes for each app that has any.
private struct ProvenOrigins {
    /// How many of an app are remembered; the first is forgotten for the next.
    private static let originsMaximum = 1_024

    private struct Book {
        var members: Set<Int> = []
        var ring: [Int] = []
        var next = 0
    }

    private var books: [Int: Book] = [:]

    func contains(_ key: OriginTable.Key) -> Bool { books[key.app]?.members.contains(key.hashValue) ?? false }

    mutating func insert(_ key: OriginTable.Key) {
        var book = books[key.app] ?? Book()
        guard book.members.insert(key.hashValue).inserted else { return }
        if book.ring.count < Self.originsMaximum {
            book.ring.append(key.hashValue)
        } else {
            book.members.remove(book.ring[book.next])
            book.ring[book.next] = key.hashValue
            book.next = (book.next + 1) % Self.originsMaximum
        }
        books[key.app] = book
    }
}
