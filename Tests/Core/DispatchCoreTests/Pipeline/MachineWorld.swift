import ChangeEvents
import DispatchCore
import Essentials
import Messages
import Notifications
import RegistryCore

/// A pipeline machine without loop, file or socket: a test hands it deliveries, answers its requests, and sees what it
/// settles.
struct MachineWorld {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    static let identity = "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41"

    var machine: PipelineMachine
    /// The time of both clocks, in milliseconds.
    var milliseconds: Int64 = 1_000_000
    /// The machine's requests that have no answer yet.
    private(set) var requests: [PipelineActions.Request] = []
    /// The machine's sends that have no answer yet.
    private(set) var sends: [PushRequest] = []
    private(set) var publishes: [OutgoingMessage] = []
    private(set) var settles: [DeliveryTag] = []
    private(set) var notices: [PipelineNotice] = []
    private(set) var dispatchNotices: [DispatchActions.Notice] = []
    private(set) var fates: [EventReport.Fate] = []
    private var lastTag: UInt64 = 0

    /// Makes a machine that has read all subscriptions, or one that has just asked which apps are paused.
    init(
        app: AppRoute = Samples.app, others: [AppRoute] = [], limits: DispatchLimits = DispatchLimits(),
        answersPauses: Bool = true
    ) {
        machine = PipelineMachine(
            configuration: PipelineConfiguration(
                apps: [.init(route: app, identityPoolIDs: [Self.pool])]
                    + others.map { .init(route: $0, identityPoolIDs: []) },
                retryPolicy: RetryPolicy(
                    delaysMilliseconds: [1_000], attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                    serverErrorDelayMilliseconds: 0),
                queues: DispatchQueues(
                    retry: [1_000: "apus.retry.1s"], fanout: "apus.fanout", deadLetter: "apus.dead-letter"),
                limits: limits),
            planner: 1)
        tick()
        guard answersPauses else { return }
        answer(.success(.pausesRead([])))
        answer(
            .success(
                .subscriptionsRead(
                    areAll: true,
                    SubscriptionIndexSize(subscriptionCount: 0, distinctPredicateCount: 0, memoryBytes: 0))))
        machine.sourceStateChanged(.consuming(epoch: 1), at: now)
        notices = []
    }

    var now: Moment { Samples.moment(milliseconds) }

    // MARK: Events

    /// Lets the machine decide, and keeps its actions.
    mutating func tick() {
        machine.tick(at: now)
        requests += machine.actions.requests
        sends += machine.actions.dispatch.sends
        publishes += machine.actions.dispatch.publishes
        settles += machine.actions.dispatch.settles
        notices += machine.actions.notices
        dispatchNotices += machine.actions.dispatch.notices
        fates += machine.actions.events.map(\.fate)
        machine.actions.removeAll()
    }

    /// Lets time pass.
    mutating func pass(milliseconds duration: Int64) {
        milliseconds += duration
        tick()
    }

    /// The broker hands out messages.
    @discardableResult
    mutating func deliver(
        _ bodies: [String], epoch: UInt32 = 1, isRedelivered: Bool = false, expirations: [String?] = [],
        headers: [MessageHeader] = [], exchange: String = "apus.changes"
    ) -> [DeliveryTag] {
        let deliveries = bodies.enumerated().map { index, body in
            lastTag += 1
            var message = Message(body: Array(body.utf8))
            if expirations.indices.contains(index) { message.properties.expiration = expirations[index] }
            message.properties.contentType = "application/cloudevents+json"
            message.headers = headers
            return Delivery(
                tag: DeliveryTag(epoch: epoch, number: lastTag), deliveryClass: .interactive,
                isRedelivered: isRedelivered,
                exchange: exchange, routingKey: "a.b", message: message)
        }
        machine.deliveriesReceived(deliveries, at: now)
        tick()
        return deliveries.map(\.tag)
    }

    /// The questions of the oldest request.
    var questions: [AudienceQuestion] {
        guard case .resolve(let questions, _) = requests.first?.request else { return [] }
        return questions
    }

    /// The registry answers the oldest request.
    mutating func answer(_ result: Result<RegistryAnswer, RegistryError>) {
        machine.registryAnswered(requests.removeFirst().number, result, at: now)
        tick()
    }

    /// The registry answers the oldest request for the pauses.
    mutating func answerPauses(_ pauses: [AppPause]) {
        guard let index = requests.firstIndex(where: { if case .readPauses = $0.request { true } else { false } })
        else { return }
        requests.insert(requests.remove(at: index), at: 0)
        answer(.success(.pausesRead(pauses)))
    }

    /// The registry answers the request for outcomes that wait.
    mutating func answerFinding(_ outcomes: [(number: Int64, outcome: WaitingOutcome)]) {
        let index = requests.firstIndex { if case .takeWaitingOutcomes = $0.request { true } else { false } }
        guard let index else { return }
        requests.insert(requests.remove(at: index), at: 0)
        answer(.success(.waitingOutcomes(outcomes)))
    }

    /// The registry answers the oldest request to let outcomes wait.
    ///
    /// - Returns: the outcomes.
    mutating func answerAdding(isKept: Bool) -> [WaitingOutcome] {
        for (index, request) in requests.enumerated() {
            guard case .addWaitingOutcomes(let outcomes) = request.request else { continue }
            requests.insert(requests.remove(at: index), at: 0)
            answer(isKept ? .success(.outcomesKept) : .failure(RegistryError(.unavailable, "away")))
            return outcomes
        }
        return []
    }

    /// The outcomes that the registry is asked to forget.
    var removedNumbers: [Int64] {
        requests.flatMap { request -> [Int64] in
            if case .removeWaitingOutcomes(let numbers) = request.request { numbers } else { [] }
        }
    }

    /// The registry finds one device for each question of the newest request, before it answers the others.
    mutating func answerLastWithDevices() {
        requests.insert(requests.removeLast(), at: 0)
        answerWithDevices()
    }

    /// The registry finds one device for each question of the oldest request, each with a name of its own.
    mutating func answerWithDevices() {
        answer(
            .success(
                .resolved(
                    questions.map { question in
                        let device = Samples.device("device of \(question.event.event.identifier)")
                        return .devices(AddressedPage(AudiencePage(devices: [device], next: nil)))
                    })))
    }

    /// APNs accepts all that was sent.
    mutating func accept() { answerSends(PushAnswer(status: 200)) }

    /// APNs answers all that was sent.
    mutating func answerSends(_ answer: PushAnswer) {
        let results = sends.map {
            AttemptResult(identifier: $0.identifier, outcome: .answered(answer), durationNanoseconds: 1_000)
        }
        sends = []
        machine.pushesEnded(results, at: now)
        tick()
    }

    // MARK: Events

    static func push(_ identifier: String) -> String {
        #"{"specversion":"1.0","id":"\#(identifier)","source":"test","type":"push.requested","data":{"app":"chat","#
            + #""deviceIds":["device of \#(identifier)"],"notification":{"body":"hello"}}}"#
    }

    static func change(_ identifier: String, count: Int, dataset: String = "notes", type: String = "dataset.changed")
        -> String
    {
        #"{"specversion":"1.0","id":"\#(identifier)","source":"test","type":"\#(type)","data":{"#
            + #""identityPoolId":"\#(pool)","identityId":"\#(identity)","datasetName":"\#(dataset)","#
            + #""syncCount":\#(count)}}"#
    }
}
