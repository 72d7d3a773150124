import ChangeQueue
import Notifications
public import PushCore

extension Configuration {
    /// What the pipeline has to know: apps with their routes, the retry ladder, the queues.
    ///
    /// The routes of the app with the index n are 2n (production) and 2n + 1 (development), the order in which
    /// `apnsClient` sets them up; those to clients that fetch their notifications come after all of these.
    public var pipeline: PipelineConfiguration {
        let topology = topology
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = rabbitMQ.prefetch
        limits.fanOutThresholdDevices = fanOut.thresholdDevices
        limits.devicesPerChunkMaximum = fanOut.chunkDevices
        let delays = retry.delays.map { Int64($0.milliseconds) }
        return PipelineConfiguration(
            apps: apps.enumerated().map { index, app in
                PipelineConfiguration.App(
                    route: AppRoute(
                        index: index, name: app.name, bundleID: app.bundleID, productionRoute: 2 * index,
                        sandboxRoute: 2 * index + 1, webRoute: 2 * apps.count + index),
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
