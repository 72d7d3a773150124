import ChangeEvents
import DispatchCore
import Dispatcher
import Essentials
import Metrics
import Notifications
import RegistryCore
import StructuredLogging

/// The decisions of a worker, as a simulation drives them: `PipelineMachine`, or a test's replacement.
protocol SimulatedMachine {
    /// A request to the registry.
    associatedtype Request
    /// The registry's answer.
    associatedtype Answer
    /// The responder to requests, with its state.
    associatedtype Responder

    /// The most requests of a worker that wait for the registry.
    static var requestsMaximum: Int { get }

    init(_ setup: WorkerSetup, planner: Int64)

    static func makeResponder(_ setup: WorkerSetup, registry: SimulatedRegistry) -> Responder
    static func answer(
        _ request: Request, by responder: Responder, at now: Moment
    ) throws(RegistryError) -> Answer
    /// Whether a request waits for writes only, and reads do not wait for it.
    static func isWrite(_ request: Request) -> Bool

    /// Whether deliveries may come.
    var mayConsume: Bool { get }
    var nextTick: MonotonicTime? { get }
    var isDrained: Bool { get }

    mutating func deliveriesReceived(_ deliveries: [Delivery], at now: Moment)
    mutating func sourceStateChanged(_ state: DeliverySourceState, at now: Moment)
    mutating func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)], at now: Moment)
    mutating func pushesEnded(_ results: [AttemptResult], at now: Moment)
    mutating func routesChanged(_ changes: [RouteChange], at now: Moment)
    mutating func registryAnswered(_ number: UInt64, _ result: Result<Answer, RegistryError>, at now: Moment)
    mutating func drain(at now: Moment)
    mutating func tick(at now: Moment)
    /// Returns and forgets the actions.
    mutating func takeActions() -> MachineActions<Request>
}

/// The actions of a machine, in the order in which a worker performs them.
struct MachineActions<Request> {
    /// Pushes to send.
    var sends: [PushRequest] = []
    /// Messages to publish.
    var publishes: [OutgoingMessage] = []
    /// The requests to the registry, with the numbers of their answers.
    var requests: [(number: UInt64, request: Request)] = []
    /// Deliveries to reject.
    var rejections: [DeliveryTag] = []
    /// Deliveries to settle.
    var settles: [DeliveryTag] = []
    /// Whether to stop consuming, or to go on; nil for neither.
    var pausesConsumption: Bool?
}

extension PipelineMachine: SimulatedMachine {
    static var requestsMaximum: Int { 64 }

    init(_ setup: WorkerSetup, planner: Int64) {
        self.init(configuration: setup.configuration, planner: planner)
    }

    static func makeResponder(_ setup: WorkerSetup, registry: SimulatedRegistry) -> SimulatedResponder {
        SimulatedResponder(setup, registry: registry)
    }

    static func answer(
        _ request: RegistryRequest, by responder: SimulatedResponder, at now: Moment
    ) throws(RegistryError) -> RegistryAnswer {
        try responder.answer(request, at: now)
    }

    static func isWrite(_ request: RegistryRequest) -> Bool { request.isWrite }

    var mayConsume: Bool { hasReadSubscriptions }

    mutating func pushesEnded(_ results: [AttemptResult], at now: Moment) {
        pushesEnded(results, at: now) { _, _, _, _ in }
    }

    mutating func routesChanged(_ changes: [RouteChange], at now: Moment) { routesChanged(changes) }

    mutating func takeActions() -> MachineActions<RegistryRequest> {
        var taken = MachineActions<RegistryRequest>()
        taken.requests = actions.requests.map { ($0.number, $0.request) }
        taken.sends = actions.dispatch.sends
        taken.publishes = actions.dispatch.publishes
        taken.rejections = actions.dispatch.rejections.flatMap(\.tags)
        taken.settles = actions.dispatch.settles
        for case .consumption(let stop) in actions.notices { taken.pausesConsumption = stop != nil }
        actions = PipelineActions()
        return taken
    }
}

/// Answers the requests of a worker from the simulated registry: the worker's own code, on a manual clock.
final class SimulatedResponder {
    private final class Clock {
        var milliseconds: Int64 = 0
    }

    private let clock = Clock()
    private let responder: RegistryResponder

    init(_ setup: WorkerSetup, registry: SimulatedRegistry) {
        responder = RegistryResponder(
            registry: registry, limits: setup.limits, logger: .silent, metrics: RegistryMetrics(MetricsRegistry()),
            nowMilliseconds: { [clock] in clock.milliseconds })
    }

    func answer(_ request: RegistryRequest, at now: Moment) throws(RegistryError) -> RegistryAnswer {
        clock.milliseconds = now.wall.milliseconds
        return try responder.answer(request)
    }
}
