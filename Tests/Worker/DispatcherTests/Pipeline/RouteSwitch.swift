import Synchronization

/// Which routes of a scripted transport are taken away at the moment.
final class RouteSwitch: Sendable {
    private let routes = Mutex<Set<Int>>([])

    /// Whether a route has been taken away.
    func isOff(_ route: Int) -> Bool { routes.withLock { $0.contains(route) } }

    /// Takes routes away.
    func turnOff(_ taken: [Int]) { routes.withLock { $0.formUnion(taken) } }

    /// Gives them back.
    func turnOn(_ given: [Int]) { routes.withLock { $0.subtract(given) } }
}
