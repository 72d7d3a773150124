import ChangeEvents
import ChangeQueue
import DispatchCore
import Essentials
public import Messages
import Metrics
import Notifications
public import RegistryCore
import StructuredLogging
public import WorkerConfiguration

/// The pushes that a worker would send for an event, found without a broker and without changing the registry.
///
/// The worker's own machine decides, and the registry answers it, but nothing is written: a subscription that fires
/// once stays, no badge grows, and a large audience is not planned in chunks.
public struct EventPreview {
    /// What does not go to a push service.
    public struct Parked: Hashable, Sendable {
        /// Whether it is a dead letter; otherwise it waits in a queue for retries.
        public let isDeadLetter: Bool
        /// Why, as a word.
        public let reason: String
        /// Why, in a sentence.
        public let detail: String
        /// The devices or wrong entries of the target that it concerns; none if it is the whole event.
        public let names: [String]
    }

    /// What each push service would get, and for which devices.
    public private(set) var contents: [PreviewedContent] = []
    /// What would become a dead letter, or wait.
    public private(set) var parked: [Parked] = []
    /// The entries of the target that have no device.
    public private(set) var unmatched: [String] = []
    /// How many devices are left out, because they have no token of the push's kind.
    public private(set) var leftOutCount = 0
    /// Whether the audience has more devices than are shown: it is served in parts.
    public private(set) var isPartial = false

    /// How many devices would get a push.
    public var pushCount: Int { contents.reduce(0) { $0 + $1.devices.count } }

    /// Finds the pushes for an event.
    ///
    /// - Parameters:
    ///   - message: the event as it would be published.
    ///   - configuration: the apps and the limits.
    ///   - registry: the registry, which is only read.
    ///   - nowMilliseconds: the wall clock, in milliseconds since 1970.
    /// - Throws: `RegistryError` if the registry does not answer.
    public init(
        of message: Message, _ configuration: Configuration, _ registry: any PipelineRegistry, nowMilliseconds: Int64
    ) throws(RegistryError) {
        var run = PreviewRun(configuration.pipeline, registry, nowMilliseconds: nowMilliseconds)
        try run.play(message, exchange: configuration.topology.names.changes)
        contents = run.contents
        parked = run.parked
        unmatched = run.unmatched
        leftOutCount = run.leftOutCount
        isPartial = run.isPartial
    }
}

/// A machine whose pushes are all accepted, and whose publishes are only looked at.
private struct PreviewRun {
    private let queues: DispatchQueues
    private let responder: RegistryResponder
    private let now: Moment
    private var machine: PipelineMachine
    /// The devices that were found, by their apps and tokens.
    private var found: [String: [DeviceToken: Recipient]] = [:]

    private(set) var contents: [PreviewedContent] = []
    private(set) var parked: [EventPreview.Parked] = []
    private(set) var unmatched: [String] = []
    private(set) var leftOutCount = 0
    private(set) var isPartial = false

    init(_ configuration: PipelineConfiguration, _ registry: any PipelineRegistry, nowMilliseconds: Int64) {
        var configuration = configuration
        // Nothing is written.
        configuration.limits.eventMemoryMilliseconds = 0
        configuration.limits.storesOutcomes = false
        configuration.toldOutcomes = nil
        queues = configuration.queues
        now = Moment(
            wall: WallTime(milliseconds: nowMilliseconds), monotonic: MonotonicTime(nanoseconds: 1_000_000_000))
        machine = PipelineMachine(configuration: configuration, planner: 1)
        responder = RegistryResponder(
            registry: registry, limits: configuration.limits, logger: .silent,
            metrics: RegistryMetrics(MetricsRegistry()), writes: false, nowMilliseconds: { nowMilliseconds })
    }

    /// Hands the machine an event, and carries out its actions until it has none.
    mutating func play(_ message: Message, exchange: String) throws(RegistryError) {
        try settle()
        machine.sourceStateChanged(.consuming(epoch: 1), at: now)
        machine.deliveriesReceived(
            [
                Delivery(
                    tag: DeliveryTag(epoch: 1, number: 1), deliveryClass: .interactive, isRedelivered: false,
                    exchange: exchange, routingKey: "", message: message)
            ], at: now)
        try settle()
    }

    private mutating func settle() throws(RegistryError) {
        while true {
            machine.tick(at: now)
            let actions = machine.actions
            machine.actions.removeAll()
            for request in actions.requests {
                machine.registryAnswered(request.number, .success(try answer(request.request)), at: now)
            }
            actions.dispatch.publishes.forEach { note($0) }
            actions.dispatch.sends.forEach { note($0) }
            machine.pushesEnded(
                actions.dispatch.sends.map {
                    AttemptResult(
                        identifier: $0.identifier, outcome: .answered(PushAnswer(status: 200)), durationNanoseconds: 0)
                }, at: now)
            if actions.requests.isEmpty, actions.dispatch.sends.isEmpty { return }
        }
    }

    private mutating func answer(_ request: RegistryRequest) throws(RegistryError) -> RegistryAnswer {
        guard case .resolve(var questions, let devicesPerPage) = request else { return try responder.answer(request) }
        for index in questions.indices {
            questions[index].mayBePlanned = false
            questions[index].asksForRegistrations = true
            questions[index].identities = []
        }
        let answer = try responder.answer(.resolve(questions, devicesPerPage: devicesPerPage))
        if case .resolved(let audiences) = answer {
            for (question, audience) in zip(questions, audiences) { note(audience, of: question) }
        }
        return answer
    }

    // MARK: Findings

    private mutating func note(_ audience: AudienceResult, of question: AudienceQuestion) {
        switch audience {
        case .devices(let addressed):
            for device in addressed.page.devices { found[device.app, default: [:]][device.token] = device }
            leftOutCount += addressed.leftOutCount
            guard addressed.leftOutCount == 0, addressed.page.next == nil,
                case .push(let push) = question.event.event.kind
            else { return }
            unmatched += push.audience.entries(withoutDeviceAmong: addressed.page.devices).map(\.deviceID)
        case .subscribers(let page, _):
            for device in page.entries.map(\.recipient) { found[device.app, default: [:]][device.token] = device }
        case .large, .chunkOver, .repeated, .later: break
        }
    }

    private mutating func note(_ request: PushRequest) {
        guard let route = machine.renderer.route(ofTransport: request.route),
            let device = found[route.name]?[request.token]
        else { return }
        let index = contents.firstIndex { $0.content === request.content && $0.service == route.service }
        if let index {
            contents[index].devices.append(device)
        } else {
            contents.append(
                PreviewedContent(
                    request.content, for: route.service, device: device, nowSeconds: now.wall.seconds))
        }
    }

    private mutating func note(_ publish: OutgoingMessage) {
        func text(_ name: String) -> String {
            if case .string(let text)? = publish.message.header(name) { text } else { "" }
        }
        if publish.routingKey == queues.fanout {
            isPartial = true
        } else if publish.routingKey == queues.deadLetter || queues.retry.values.contains(publish.routingKey) {
            var names: [String] = []
            if case .array(let values)? = publish.message.header(RetryHeader.devices) {
                for case .string(let name) in values { names.append(name) }
            }
            parked.append(
                .init(
                    isDeadLetter: publish.routingKey == queues.deadLetter, reason: text(RetryHeader.reason),
                    detail: text(RetryHeader.detail), names: names))
        }
    }
}
