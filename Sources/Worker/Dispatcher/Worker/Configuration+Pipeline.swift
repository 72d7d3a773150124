import ChangeEvents
import ChangeQueue
public import DispatchCore
import Notifications
public import WorkerConfiguration

extension Configuration {
    /// The pipeline's settings: apps with their routes, the retry ladder, the queues.
    ///
    /// `TransportRoutes` numbers the routes of the transport.
    public var pipeline: PipelineConfiguration {
        let topology = topology
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = rabbitMQ.prefetch
        limits.batchesAskedMaximum = lookUpConnectionCount
        limits.fanOutThresholdDevices = fanOut.thresholdDevices
        limits.devicesPerChunkMaximum = fanOut.chunkDevices
        limits.answerPatienceMilliseconds = Int64(worker.pushTimeout.milliseconds)
        limits.outcomePatienceMilliseconds = Int64(outcomes.patience.milliseconds)
        limits.storesOutcomes = true
        limits.historyMilliseconds = Int64(history.retention.milliseconds)
        limits.historyOutcomesMaximum = history.outcomesMaximum
        limits.eventMemoryMilliseconds = Int64(events.remember.milliseconds)
        limits.rememberedEventsMaximum = events.rememberMaximum
        let delays = retry.delays.map { Int64($0.milliseconds) }
        var noted = apps
        if history.isKept { for index in noted.indices { noted[index].outcomes = .all } }
        var pipeline = PipelineConfiguration(
            apps: TransportRoutes(apps).pipelineApps(noted),
            retryPolicy: RetryPolicy(
                delaysMilliseconds: delays, attemptsMaximum: retry.attemptsMaximum,
                ageMaximumMilliseconds: Int64(retry.ageMaximum.milliseconds),
                serverErrorDelayMilliseconds: Int64(retry.serverErrorDelay.milliseconds)),
            queues: DispatchQueues(
                retry: Dictionary(
                    delays.map { ($0, topology.names.retry(delayMilliseconds: $0)) },
                    uniquingKeysWith: { first, _ in first }),
                fanout: topology.names.fanout, deadLetter: topology.names.deadLetter,
                outcomes: topology.names.outcomes),
            limits: limits)
        if history.isKept {
            pipeline.toldOutcomes = Dictionary(
                apps.map { ($0.name, $0.outcomes) }, uniquingKeysWith: { first, _ in first })
        }
        pipeline.sources = TableSources(sources)
        return pipeline
    }
}
