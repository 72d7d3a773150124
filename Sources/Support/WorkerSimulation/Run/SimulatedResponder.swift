import Dispatcher
import Essentials
import Metrics
import Notifications
import PushCore

/// What answers the requests of a worker from the simulated registry: the worker's own code, on a clock that is set.
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
