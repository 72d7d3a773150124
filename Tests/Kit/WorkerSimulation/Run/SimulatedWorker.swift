import ChangeEvents
import DispatchCore
import Essentials
import Notifications
import RegistryCore

/// The slot of a worker, in which one process follows another.
final class SimulatedWorker<Machine: SimulatedMachine> {
    let number: Int
    /// The number of the process; messages for an earlier one are lost.
    var generation = 0
    var machine: Machine?
    var readResponder: Machine.Responder?
    var writeResponder: Machine.Responder?
    /// By how much its wall clock differs from the true time.
    var wallOffsetMilliseconds: Int64 = 0
    var isDraining = false

    // The deliveries that wait for the worker's next look.
    var deliveries: [Delivery] = []
    var results: [AttemptResult] = []
    var outcomes: [(identifier: UInt64, outcome: PublishOutcome)] = []
    var routes: [RouteChange] = []
    var answers: [(number: UInt64, result: Result<Machine.Answer, RegistryError>)] = []
    var isLookScheduled = false
    var tickNanoseconds: UInt64?
    var fruitlessTicks = 0

    // The consumer.
    var epoch: UInt32 = 0
    var isConnected = false
    var isConnecting = false
    var isPaused = false
    var isDeliveryScheduled = false
    var frontier = AcknowledgementFrontier(batchSize: 50)
    var unsettled: Set<UInt64> = []
    var isAcknowledgementScheduled = false
    /// When the last acknowledgement arrives, behind which no other can.
    var acknowledgedNanoseconds: UInt64 = 0

    // The publisher.
    var connection = 0
    var canPublish = false
    var publishedNanoseconds: UInt64 = 0

    // The registry: until when its connections are busy.
    var readNanoseconds: UInt64 = 0
    var writeNanoseconds: UInt64 = 0
    var requestsOut = 0

    /// The greatest sync count that this process knows a device to have accepted, by device and dataset.
    var told: [Int: Int32] = [:]

    var pushesOut = 0
    var pushesOutMaximum = 0
    var unsettledMaximum = 0
    var publishesOut = 0
    var publishesOutMaximum = 0

    init(number: Int) { self.number = number }

    /// Forgets all that a process had.
    func clear() {
        machine = nil
        readResponder = nil
        writeResponder = nil
        isDraining = false
        deliveries = []
        results = []
        outcomes = []
        routes = []
        answers = []
        isLookScheduled = false
        tickNanoseconds = nil
        isConnected = false
        isConnecting = false
        isPaused = false
        unsettled = []
        isAcknowledgementScheduled = false
        connection += 1
        canPublish = false
        requestsOut = 0
        told = [:]
        pushesOut = 0
        publishesOut = 0
        generation += 1
    }
}

/// The configuration of a worker of the simulation.
struct WorkerSetup {
    let configuration: PipelineConfiguration

    static let retryDelaysMilliseconds: [Int64] = [1_000, 5_000, 30_000, 120_000, 900_000, 3_600_000]

    init(world: World, limits: DispatchLimits, tellsOutcomes: Bool) {
        let apps = world.appNames.enumerated().map { index, name in
            PipelineConfiguration.App(
                route: AppRoute(
                    index: index, name: name, service: .apns, bundleID: "org.example.\(name)",
                    transportRoutes: [
                        .apns: 2 * index, .apnsSandbox: 2 * index + 1, .courier: 2 * World.appCount + index,
                    ], outcomes: tellsOutcomes && index == World.toldApp ? .all : []),
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

    var apps: [AppRoute] { configuration.routes }
    var queues: DispatchQueues { configuration.queues }
    var limits: DispatchLimits { configuration.limits }
}
