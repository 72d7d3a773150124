import ChangeQueue
public import DispatchCore
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
        let delays = retry.delays.map { Int64($0.milliseconds) }
        return PipelineConfiguration(
            apps: TransportRoutes(apps).pipelineApps(apps),
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
    }
}
