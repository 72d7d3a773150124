import DispatchCore
import Essentials
import Messages
import Notifications
import RegistryCore

/// Workers, a broker, a registry, a push service, clocks and the end of processes, in one thread and in a time of its
/// own.
///
/// All that is drawn follows from a seed, so a run can be replayed to the step. After each step the promises are looked
/// at that the step concerns; at the end all events have to have ended.
final class Simulation<Machine: SimulatedMachine> {
    struct Asked {
        var worker: Int
        var generation: Int
        var number: UInt64
        var request: Machine.Request
        var result: Result<Machine.Answer, RegistryError>?
    }

    /// The time for deferred pushes after the last event and the last fault, in seconds.
    static var endingSecondsMaximum: UInt64 { 16 * 3_600 }
    static var startMilliseconds: Int64 { 1_800_000_000_000 }

    let options: SimulationOptions
    let setup: WorkerSetup
    let world: World
    let books: Books
    let registry: SimulatedRegistry
    var broker: Broker
    var service: SimulatedPushService
    var load: Load
    let workers: [SimulatedWorker<Machine>]
    var events = EventQueue<Happening>()
    /// The time, in nanoseconds.
    var now: UInt64 = 1_000_000_000
    var steps = 0
    var digest = Digest()
    var report: SimulationReport

    var loopRandom: Randomness
    var brokerRandom: Randomness
    var registryRandom: Randomness
    var faultRandom: Randomness

    var outgoing = Slots<OutgoingPublish>()
    var lastSequence: UInt64 = 0
    var sent = Slots<SentPush>()
    var asked = Slots<Asked>()
    var pushNumbers = PushNumber()
    var repeated: [Int: Message] = [:]
    /// Receives the trace of selected events.
    var trace: (String) -> Void = { _ in }
    var publishedCount = 0
    var lastPublishNanoseconds: UInt64 = 0

    // Faults that go on.
    var ongoing: [SimulatedFault: Int] = [:]
    var faultCounts: [SimulatedFault: Int] = [:]
    var registryIsLosing = false
    /// Since when nothing has disturbed all workers.
    var quietNanoseconds: UInt64 = 0
    /// How many messages waited for workers at that moment.
    var quietBacklog = 0
    /// The events of the app 0, as they came, each with the number of messages that waited before it.
    var healthyEvents = Line<(number: Int, ahead: Int)>()

    init(_ options: SimulationOptions) {
        self.options = options
        world = World(devicesPerApp: options.devicesPerApp, startMilliseconds: Self.startMilliseconds)
        books = Books(world: world)
        registry = SimulatedRegistry(world: world)
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = options.prefetch
        limits.batchesAskedMaximum = 1 + Int(options.seed % 3)
        // A backend that is not told would be no violation after that, and every time is too short for some fault.
        limits.outcomePatienceMilliseconds = .max / 2
        books.tellsOutcomes = options.tellsOutcomes
        setup = WorkerSetup(world: world, limits: limits, tellsOutcomes: options.tellsOutcomes)
        broker = Broker(
            workerCount: options.workerCount, workQueueCount: options.workQueueCount,
            prefetch: max(1, options.prefetch), retryDelaysMilliseconds: WorkerSetup.retryDelaysMilliseconds)
        service = SimulatedPushService(world: world, workerCount: options.workerCount, seed: options.seed)
        load = Load(
            seed: options.seed, largeAudiencesPerMillion: options.largeAudiencesPerMillion,
            hasDeletions: options.hasDeletions)
        workers = (0..<options.workerCount).map { SimulatedWorker(number: $0) }
        report = SimulationReport(options: options)
        loopRandom = Randomness(seed: options.seed, model: "loops")
        brokerRandom = Randomness(seed: options.seed, model: "broker")
        registryRandom = Randomness(seed: options.seed, model: "registry")
        faultRandom = Randomness(seed: options.seed, model: "faults")
        // A push is abandoned early if its next attempt, an hour later at most, would come too late.
        books.expiryToleranceMilliseconds = 3_600_000 + 2 * Self.clockErrorMilliseconds + 60_000
        registry.pruned = { [unowned self] device in devicePruned(device) }
    }

    /// The date, without the errors of clocks.
    var trueMilliseconds: Int64 { Self.startMilliseconds + Int64(now / 1_000_000) }

    func schedule(_ happening: Happening, after nanoseconds: UInt64) {
        events.schedule(happening, atNanoseconds: now + nanoseconds)
    }

    /// The time of a worker's clocks.
    func moment(_ worker: SimulatedWorker<Machine>) -> Moment {
        Moment(
            wall: WallTime(milliseconds: trueMilliseconds + worker.wallOffsetMilliseconds),
            monotonic: MonotonicTime(nanoseconds: now))
    }

    /// Traces an event, if it is selected.
    func tell(_ event: Int, _ text: @autoclosure () -> String) {
        guard !options.tracedEvents.isEmpty, options.tracedEvents.contains(event) else { return }
        trace("\(Double(now / 1_000) / 1_000_000) s: event \(event) \(text())")
    }

    // MARK: A run

    /// Plays until all events have ended, or a promise is broken.
    ///
    /// - Parameter progress: called now and then with the steps and the events so far; tells whether to go on.
    /// - Returns: the report.
    func run(progress: (_ steps: Int, _ events: Int) -> Bool = { _, _ in true }) -> SimulationReport {
        for worker in workers {
            schedule(.workerStarts(worker: worker.number), after: UInt64(worker.number) * 1_000_000)
        }
        schedule(.backendsPublish, after: 50_000_000)
        schedule(.invariantsAreLookedAt, after: 1_000_000_000)
        scheduleFaults()
        while books.violation == nil, let (time, happening) = events.popFirst() {
            now = max(now, time)
            steps += 1
            handle(happening)
            if steps & 0xFFFF == 0, !progress(steps, publishedCount) { break }
            if isOver { break }
        }
        if books.violation == nil, publishedCount == options.eventCount { books.close() }
        return finalReport()
    }

    private var isOver: Bool {
        guard publishedCount == options.eventCount, repeated.isEmpty else { return false }
        if broker.messageCount == 0, outgoing.count == 0, sent.count == 0 { return true }
        return now > lastPublishNanoseconds + Self.endingSecondsMaximum * 1_000_000_000
    }

    private func finalReport() -> SimulationReport {
        report.steps = steps
        report.seconds = Double(now / 1_000_000) / 1_000
        report.counts = books.counts
        report.digest = digest.value
        report.faultCounts = SimulatedFault.allCases.compactMap { fault in faultCounts[fault].map { (fault, $0) } }
        for worker in workers {
            report.pushesOutMaximum = max(report.pushesOutMaximum, worker.pushesOutMaximum)
            report.unsettledDeliveriesMaximum = max(report.unsettledDeliveriesMaximum, worker.unsettledMaximum)
            report.publishesOutMaximum = max(report.publishesOutMaximum, worker.publishesOutMaximum)
        }
        if var violation = books.violation {
            violation.step = steps
            violation.seconds = report.seconds
            report.violation = violation
        }
        return report
    }

    private func handle(_ happening: Happening) {
        switch happening {
        case .backendsPublish: backendsPublish()
        case .publisherRepeats(let event): publisherRepeats(event)
        case .brokerDelivers(let worker): brokerDelivers(workers[worker])
        case .brokerHandsOver(let queue): brokerHandsOver(queue)
        case .publishArrives(let slot, let connection): publishArrives(slot, connection)
        case .publishIsConfirmed(let slot, let connection): publishIsConfirmed(slot, connection)
        case .acknowledgementArrives(let worker, let epoch, let number, let isMultiple):
            acknowledgementArrives(worker, epoch, number, isMultiple)
        case .rejectionArrives(let worker, let epoch, let number): rejectionArrives(worker, epoch, number)
        case .acknowledgementsAreDue(let worker, let epoch): acknowledgementsAreDue(workers[worker], epoch)
        case .pushEnds(let slot): pushEnds(slot)
        case .registryWorks(let slot): registryWorks(slot)
        case .registryAnswers(let slot): registryAnswers(slot)
        case .workerStarts(let worker): start(workers[worker])
        case .workerLooks(let worker, let generation):
            if workers[worker].generation == generation { look(workers[worker]) }
        case .workerTicks(let worker, let generation, let due):
            if workers[worker].generation == generation { tick(workers[worker], due) }
        case .workerIsStopped(let worker, let generation):
            if workers[worker].generation == generation { stop(workers[worker]) }
        case .consumerConnects(let worker, let generation):
            if workers[worker].generation == generation { consumerConnects(workers[worker]) }
        case .consumerReconnects(let worker, let epoch): consumerReconnects(workers[worker], epoch)
        case .publisherConnects(let worker, let generation):
            if workers[worker].generation == generation { publisherConnects(workers[worker]) }
        case .routesChange(let worker, let generation, let app):
            if workers[worker].generation == generation { routesChange(workers[worker], app) }
        case .faultBegins(let fault): faultBegins(fault)
        case .faultEnds(let fault, let target): faultEnds(fault, target)
        case .invariantsAreLookedAt: lookAtInvariants()
        }
    }
}

/// The events of a simulation's time line.
enum Happening {
    case backendsPublish
    case publisherRepeats(event: Int)
    case brokerDelivers(worker: Int)
    case brokerHandsOver(queue: Int)
    case publishArrives(UInt32, connection: Int)
    case publishIsConfirmed(UInt32, connection: Int)
    case acknowledgementArrives(worker: Int, epoch: UInt32, number: UInt64, isMultiple: Bool)
    case rejectionArrives(worker: Int, epoch: UInt32, number: UInt64)
    case acknowledgementsAreDue(worker: Int, epoch: UInt32)
    case pushEnds(UInt32)
    case registryWorks(UInt32)
    case registryAnswers(UInt32)
    case workerStarts(worker: Int)
    case workerLooks(worker: Int, generation: Int)
    case workerTicks(worker: Int, generation: Int, nanoseconds: UInt64)
    case workerIsStopped(worker: Int, generation: Int)
    case consumerConnects(worker: Int, generation: Int)
    case consumerReconnects(worker: Int, epoch: UInt32)
    case publisherConnects(worker: Int, generation: Int)
    case routesChange(worker: Int, generation: Int, app: Int)
    case faultBegins(SimulatedFault)
    case faultEnds(SimulatedFault, target: Int)
    case invariantsAreLookedAt
}
