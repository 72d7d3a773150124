/// The ways to the origins.
extension OriginTable {
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
    ///
    /// It *leads nowhere* if one of its reserved origins cannot be reached, and no origin can. Other origins do not
    /// count: anybody may name one that does not exist, also below a suffix that is known. As no pushes come then, an
    /// unreachable origin is forgotten after `unreachableNanoseconds` without any, and the route leads somewhere again
    /// until pushes prove the opposite.
    func isReachable(app: Int) -> Bool? {
        let states = origins.compactMap { $0 }.filter { $0.key.app == app }
        if states.contains(where: { $0.isReachable == true }) { return true }
        return states.contains { $0.isReserved && $0.isReachable == false } ? false : nil
    }
}
