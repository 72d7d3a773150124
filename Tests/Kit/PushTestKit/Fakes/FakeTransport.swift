public import Notifications
import Synchronization

/// Answers pushes from a script, at once or when a test says so.
public final class FakeTransport: PushTransport {
    private struct State {
        var handler: (any PushTransportHandler)?
        var script: @Sendable (PushRequest, Int) -> AttemptOutcome?
        var attempts: [DeviceToken: Int] = [:]
        var requests: [PushRequest] = []
        var unanswered: [PushRequest] = []
    }

    private let state: Mutex<State>

    /// Creates a transport.
    ///
    /// - Parameter script: the outcome of a request and of its how-manieth attempt for that token, counted from 1; nil
    ///   leaves it unanswered.
    public init(script: @escaping @Sendable (PushRequest, Int) -> AttemptOutcome?) {
        state = Mutex(State(script: script))
    }

    /// A transport that accepts everything.
    public convenience init() { self.init { _, _ in .answered(PushAnswer(status: 200)) } }

    /// All requests so far, in order.
    public var requests: [PushRequest] { state.withLock { $0.requests } }

    /// Answers everything that was left unanswered.
    public func answerAll(_ outcome: AttemptOutcome) {
        let (handler, results) = state.withLock { state in
            let results = state.unanswered.map {
                AttemptResult(identifier: $0.identifier, outcome: outcome, durationNanoseconds: 1)
            }
            state.unanswered = []
            return (state.handler, results)
        }
        handler?.pushesEnded(results)
    }

    /// Says that routes lead to the push service, or do not.
    public func setReachable(_ isReachable: Bool, routes: [Int]) {
        let handler = state.withLock { $0.handler }
        handler?.routesChanged(routes.map { RouteChange(route: $0, isReachable: isReachable) })
    }

    /// Remembers the handler.
    public func start(handler: any PushTransportHandler) { state.withLock { $0.handler = handler } }

    /// Answers from the script.
    public func send(_ requests: [PushRequest]) {
        let (handler, results) = state.withLock { state in
            var results: [AttemptResult] = []
            for request in requests {
                state.requests.append(request)
                state.attempts[request.token, default: 0] += 1
                if let outcome = state.script(request, state.attempts[request.token] ?? 1) {
                    results.append(
                        AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: 1_000))
                } else {
                    state.unanswered.append(request)
                }
            }
            return (state.handler, results)
        }
        if !results.isEmpty { handler?.pushesEnded(results) }
    }

    /// Ends unanswered pushes as not processed.
    public func close() async { answerAll(.notProcessed("closed")) }
}

/// The transport's routes of an app, for tests that know what its route for APNs leads to.
extension AppRoute {
    /// The route to Apple's production environment.
    public var productionRoute: Int { known(.apns) }
    /// The route to Apple's development environment.
    public var sandboxRoute: Int { known(.apnsSandbox) }
    /// The route to clients that fetch their notifications.
    public var courierRoute: Int { known(.courier) }

    private func known(_ platform: Platform) -> Int {
        guard let route = transportRoute(to: platform) else {
            preconditionFailure("the route of \(title) does not lead to \(platform.rawValue)")
        }
        return route
    }
}
