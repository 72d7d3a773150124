import ChangeQueue
import Notifications
public import PushCore

extension Configuration {
    /// The pipeline's settings: apps with their routes, the retry ladder, the queues.
    ///
    /// The app at index n has the routes 2n (production) and 2n + 1 (development), in the order of `apnsClient`. Routes
    /// to clients that fetch their notifications come after all of these.
    public var pipeline: PipelineConfiguration {
        let topology = topology
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = rabbitMQ.prefetch
        limits.batchesAskedMaximum = lookUpConnectionCount
        limits.fanOutThresholdDevices = fanOut.thresholdDevices
        limits.devicesPerChunkMaximum = fanOut.chunkDevices
        let delays = retry.delays.map { Int64($0.milliseconds) }
        return PipelineConfiguration(
            apps: apps.enumerated().map { index, app in
                PipelineConfiguration.App(
                    route: AppRoute(
                        index: index, name: app.name, bundleID: app.bundleID, productionRoute: 2 * index,
                        sandboxRoute: 2 * index + 1, courierRoute: 2 * apps.count + index),
                    identityPoolIDs: app.identityPools)
            },
            retryPolicy: RetryPolicy(
                delaysMilliseconds: delays, attemptsMaximum: retry.attemptsMaximum,
                ageMaximumMilliseconds: Int64(retry.ageMaximum.milliseconds),
                serverErrorDelayMilliseconds: Int64(retry.serverErrorDelay.milliseconds)),
            queues: DispatchQueues(
                retry: Dictionary(
                    delays.map { ($0, topology.names.retry(delayMilliseconds: $0)) },
                    uniquingKeysWith: { first, _ in first }),
                fanout: topology.names.fanout, deadLetter: topology.names.deadLetter),
            limits: limits)
    }
}
