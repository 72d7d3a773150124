import Notifications
import PushCore

/// What a worker of the simulation is configured with.
struct WorkerSetup {
    let configuration: PipelineConfiguration

    static let retryDelaysMilliseconds: [Int64] = [1_000, 5_000, 30_000, 120_000, 900_000, 3_600_000]

    init(world: World, limits: DispatchLimits) {
        let apps = world.appNames.enumerated().map { index, name in
            PipelineConfiguration.App(
                route: AppRoute(
                    index: index, name: name, bundleID: "org.example.\(name)", productionRoute: 2 * index,
                    sandboxRoute: 2 * index + 1, webRoute: 2 * World.appCount + index),
                identityPoolIDs: [world.poolNames[index]])
        }
        configuration = PipelineConfiguration(
            apps: apps,
            retryPolicy: RetryPolicy(
                delaysMilliseconds: Self.retryDelaysMilliseconds, attemptsMaximum: 8,
                ageMaximumMilliseconds: 7 * 86_400_000, serverErrorDelayMilliseconds: 30_000),
            queues: DispatchQueues(
                retry: Dictionary(
                    uniqueKeysWithValues: Self.retryDelaysMilliseconds.map { ($0, Broker.retryName($0)) }),
                fanout: Broker.fanOutName, deadLetter: Broker.deadLetterName), limits: limits)
    }

    var apps: [AppRoute] { configuration.apps.map(\.route) }
    var queues: DispatchQueues { configuration.queues }
    var limits: DispatchLimits { configuration.limits }
}
