import ChangeEvents
import DispatchCore
import Dispatcher
import Essentials
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import StructuredLogging

/// Takes events from delivery to acknowledgement; each push is an item.
final class PipelineWork: CountedWork {
    /// How many datasets change, one after the other: more than are under way at once, and no more than the warm-up
    /// has, so that tables of datasets do not grow while it is counted.
    static let datasets = Scale.of(1_500, small: 100)
    /// How many devices an event of the fan-out has: more than one worker serves alone.
    static let crowdDevices = Scale.of(4_000, small: 1_500)

    private let drive: PipelineDrive
    private let pushesPerEvent: Int
    private var messages: ArraySlice<Message>

    private init(
        registry: String, pushesPerEvent: Int, total: Int, isRemembered: Bool = false, event: (Int) -> String
    ) throws {
        drive = try PipelineDrive(registry: registry, remembersEvents: isRemembered)
        self.pushesPerEvent = pushesPerEvent
        messages =
            (0..<total / pushesPerEvent).map { index in
                var message = TestEvents.message(event(index))
                if isRemembered { message.askToBeRemembered() }
                return message
            }[...]
    }

    /// Events for one device each, which the registry remembers or not.
    static func oneToOne(registry: String, total: Int, isRemembered: Bool = false) throws -> PipelineWork {
        try PipelineWork(registry: registry, pushesPerEvent: 1, total: total, isRemembered: isRemembered) { index in
            RegisteredDevice.event(index % datasets, syncCount: index)
        }
    }

    /// Events for thousands of devices each.
    static func fanOut(registry: String, total: Int) throws -> PipelineWork {
        try PipelineWork(registry: registry, pushesPerEvent: crowdDevices, total: total) { index in
            RegisteredDevice.request("f\(index)", identity: InstructionRegistry.crowd)
        }
    }

    func perform(_ count: Int) throws {
        let events = count / pushesPerEvent
        try drive.perform(messages.prefix(events), pushes: count)
        messages = messages.dropFirst(events)
    }
}

/// Drives the decisions of a worker, with a real registry, in one thread and in a time of its own.
///
/// The broker confirms and the push service accepts at once. The clock goes on by the same time after each tick.
final class PipelineDrive {
    /// The date at which the drive begins.
    static let startMilliseconds: Int64 = 1_764_000_000_000
    private static let tickNanoseconds: UInt64 = 100_000
    private static let window = 1_000
    private static let batch = 100
    /// After how many ticks in which nothing happens it has failed.
    private static let idleTicksMaximum = 10_000

    private final class Clock {
        var nanoseconds: UInt64 = 0
        var milliseconds: Int64 { PipelineDrive.startMilliseconds + Int64(nanoseconds / 1_000_000) }
        var now: Moment {
            Moment(
                wall: WallTime(milliseconds: milliseconds), monotonic: MonotonicTime(nanoseconds: nanoseconds))
        }
    }

    private let clock = Clock()
    private var machine: PipelineMachine
    private let reads: RegistryResponder
    private let writes: RegistryResponder
    /// The lists that the machine fills in the next tick, while those of this tick are carried out.
    private var actions = PipelineActions()
    private var messages: [(message: Message, deliveryClass: DeliveryClass)] = []
    private var nextDelivery = 0
    private var settledCount = 0
    private var pushCount = 0
    private var idleTicks = 0

    /// Makes a worker that has read what a worker reads before it consumes.
    init(registry path: String, remembersEvents: Bool) throws {
        var configuration = PipelineScenario.configuration
        configuration.limits.eventMemoryMilliseconds = remembersEvents ? 86_400_000 : 0
        let limits = configuration.limits
        machine = PipelineMachine(configuration: configuration, planner: 1)
        let responders = try (0..<2).map { [clock] _ in
            RegistryResponder(
                registry: try SQLiteRegistry.open(path: path, mode: .readWrite), limits: limits,
                logger: .silent, metrics: RegistryMetrics(MetricsRegistry()), nowMilliseconds: { clock.milliseconds })
        }
        (reads, writes) = (responders[0], responders[1])
        while !machine.hasReadSubscriptions { try tick() }
        machine.sourceStateChanged(.consuming(epoch: 1), at: clock.now)
    }

    /// Takes messages to their acknowledgement.
    ///
    /// - Parameters:
    ///   - messages: the messages.
    ///   - pushes: how many pushes they make.
    /// - Throws: `BenchmarkFailure` if they make another number, or go elsewhere.
    func perform(_ messages: some Sequence<Message>, pushes: Int) throws {
        let before = pushCount
        self.messages += messages.map { ($0, .interactive) }
        while settledCount < self.messages.count {
            deliver()
            try tick()
        }
        guard pushCount - before == pushes else {
            throw BenchmarkFailure(description: "\(pushCount - before) pushes instead of \(pushes)")
        }
    }

    /// Gives out what the window has room for, a batch at most.
    private func deliver() {
        let end = min(messages.count, settledCount + Self.window, nextDelivery + Self.batch)
        guard nextDelivery < end else { return }
        let deliveries = (nextDelivery..<end).map { index in
            let (message, deliveryClass) = messages[index]
            return Delivery(
                tag: DeliveryTag(epoch: 1, number: UInt64(index + 1)), deliveryClass: deliveryClass,
                isRedelivered: false, exchange: deliveryClass == .interactive ? "apus.changes" : "",
                routingKey: "benchmark", message: message)
        }
        nextDelivery = end
        machine.deliveriesReceived(deliveries, at: clock.now)
    }

    private func tick() throws {
        machine.tick(at: clock.now)
        // As in the worker, the lists are taken out, so that emptying them does not copy them.
        swap(&actions, &machine.actions)
        let answers = actions.requests.map { ($0.number, answer($0.request)) }
        let results = actions.dispatch.sends.map {
            AttemptResult(
                identifier: $0.identifier, outcome: .answered(PushAnswer(status: 200)), durationNanoseconds: 1_000)
        }
        let published = try publish(actions.dispatch.publishes)
        pushCount += results.count
        settledCount += actions.dispatch.settles.count
        guard actions.dispatch.rejections.isEmpty else {
            throw BenchmarkFailure(description: "a delivery was rejected")
        }
        actions.removeAll()
        swap(&actions, &machine.actions)
        let isIdle = answers.isEmpty && results.isEmpty && published.isEmpty && nextDelivery == messages.count
        for (number, result) in answers { machine.registryAnswered(number, result, at: clock.now) }
        if !results.isEmpty { machine.pushesEnded(results, at: clock.now) }
        if !published.isEmpty { machine.publishesEnded(published, at: clock.now) }
        try advance(isIdle: isIdle)
    }

    private func answer(_ request: RegistryRequest) -> Result<RegistryAnswer, RegistryError> {
        let responder = request.isWrite ? writes : reads
        return Result { () throws(RegistryError) in try responder.answer(request) }
    }

    /// Takes the chunks of large fan-outs to their queue, from which they come back as deliveries.
    private func publish(
        _ published: [OutgoingMessage]
    ) throws -> [(identifier: UInt64, outcome: PublishOutcome)] {
        guard published.allSatisfy({ $0.routingKey == InstantAdapters.fanOutQueue }) else {
            throw BenchmarkFailure(description: "an event went to a retry queue or to the dead letters")
        }
        messages += published.map { ($0.message, .bulk) }
        return published.map { ($0.identifier, .confirmed) }
    }

    /// Lets time pass: until the machine has something to do, if it waits.
    private func advance(isIdle: Bool) throws {
        idleTicks = isIdle ? idleTicks + 1 : 0
        guard idleTicks < Self.idleTicksMaximum else {
            throw BenchmarkFailure(description: "the pipeline has stopped after \(settledCount) of \(messages.count)")
        }
        let next = clock.nanoseconds + Self.tickNanoseconds
        clock.nanoseconds = isIdle ? max(next, machine.nextTick?.nanoseconds ?? next) : next
    }
}
