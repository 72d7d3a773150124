import ChangeEvents
import Synchronization

/// The problems that keep outcomes from being posted.
public struct WebhookHealth: Hashable, Sendable {
    /// One app.
    public struct Endpoint: Hashable, Sendable {
        /// The app.
        public var app: String
        /// Why its queue is not consumed; nil if it is.
        public var consumptionProblem: String?
        /// Why its backend takes no outcomes; nil if it does.
        public var endpointProblem: String?
    }

    /// The apps, in their order.
    public var endpoints: [Endpoint]
    /// Why no copy for a retry can be published; nil if it can.
    public var publisherProblem: String?

    /// Why nothing can be posted at all; nil if something can.
    public var problem: String? {
        if let publisherProblem { return publisherProblem }
        guard endpoints.allSatisfy({ $0.consumptionProblem != nil }) else { return nil }
        return endpoints.first?.consumptionProblem
    }
}

/// The health as every thread may read it.
final class WebhookHealthBoard: Sendable {
    private let state: Mutex<WebhookHealth>

    init(apps: [String]) {
        let endpoints = apps.map { WebhookHealth.Endpoint(app: $0, consumptionProblem: "not connected yet") }
        state = Mutex(WebhookHealth(endpoints: endpoints, publisherProblem: "not connected yet"))
    }

    var health: WebhookHealth { state.withLock { $0 } }

    func report(_ problem: String?, endpoint index: Int) {
        state.withLock { $0.endpoints[index].endpointProblem = problem }
    }

    func changed(_ sourceState: DeliverySourceState, endpoint index: Int) {
        state.withLock { $0.endpoints[index].consumptionProblem = sourceState.problem }
    }

    func publisherChanged(isReady: Bool, reason: String) {
        state.withLock { $0.publisherProblem = isReady ? nil : reason }
    }
}
