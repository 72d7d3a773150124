import Dispatcher
import Essentials
import Metrics
import Notifications
import PushCore

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

    mutating func pushesEnded(_ results: [PushResult], at now: Moment) {
        pushesEnded(results, at: now) { _, _ in }
    }

    mutating func routesChanged(_ changes: [RouteChange], at now: Moment) { routesChanged(changes) }

    mutating func takeActions() -> MachineActions<RegistryRequest> {
        var taken = MachineActions<RegistryRequest>()
        taken.requests = actions.requests.map { ($0.number, $0.request) }
        taken.sends = actions.dispatch.sends
        taken.publishes = actions.dispatch.publishes
        taken.rejections = actions.dispatch.rejections.flatMap(\.tags)
        taken.settles = actions.dispatch.settles
        for case .consumption(let isPaused) in actions.notices { taken.pausesConsumption = isPaused }
        actions = PipelineActions()
        return taken
    }
}
