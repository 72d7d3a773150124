/// Which routes of the transport lead to the push service at this moment.
///
/// A route of which nothing was heard yet counts as neither: it may never be used.
public struct ReachableRoutes: Hashable, Sendable {
    private enum State {
        case unknown
        case reachable
        case unreachable
    }

    private var states: [State] = []
    private var reachableCount = 0
    /// How many lead nowhere.
    public private(set) var unreachableCount = 0

    /// Creates the knowledge of nothing.
    public init() {}

    /// The transport said how a route is.
    public mutating func changed(route: Int, isReachable: Bool) {
        precondition(route >= 0, "a route is a place in a list")
        while states.count <= route { states.append(.unknown) }
        switch states[route] {
        case .unknown: break
        case .reachable: reachableCount -= 1
        case .unreachable: unreachableCount -= 1
        }
        states[route] = isReachable ? .reachable : .unreachable
        if isReachable { reachableCount += 1 } else { unreachableCount += 1 }
    }

    /// Whether a push on this route would wait for nothing.
    public func isUnreachable(_ route: Int) -> Bool {
        unreachableCount > 0 && states.indices.contains(route) && states[route] == .unreachable
    }

    /// Whether no route leads anywhere, as far as is known, so that nothing can be sent for any app.
    public var isEverythingUnreachable: Bool { unreachableCount > 0 && reachableCount == 0 }
}
