import Backoffice
import ChangeEvents
import Essentials
import EventLoop
import HTTPClient
import Messages
import StructuredLogging

/// The part of one endpoint that lives on the loop of all endpoints: it carries out the actions of the machine.
final class WebhookCore {
    /// The operations of the service that the core calls.
    struct Surroundings {
        /// Publishes a copy to the app's retry queue of a delay.
        let publish: (DeliveryTag, Message, _ delayMilliseconds: Int64) -> Void
        /// Acknowledges a delivery.
        let settle: (DeliveryTag) -> Void
        /// Stops consuming the app's queue.
        let stopConsuming: () -> Void
        /// Takes what is wrong with the endpoint; nil if it takes outcomes.
        let report: (String?) -> Void
        /// Hears that no request and no copy is under way, perhaps once more.
        let isIdle: () -> Void
    }

    private let endpoint: WebhookEndpoint
    private let loop: EventLoop
    private let client: HTTPMultiClient
    private let metrics: WebhookMetrics
    private let logger: Logger
    private let userAgent: String
    private let surroundings: Surroundings
    private var machine: WebhookMachine
    private var timer: EventLoop.Timer?
    private var isFailing = false
    private var areCopiesRefused = false
    private var isClosed = false

    init(
        _ endpoint: WebhookEndpoint, loop: EventLoop, metrics: WebhookMetrics, logger: Logger, userAgent: String,
        surroundings: Surroundings
    ) throws(HTTPClient.Failure) {
        self.endpoint = endpoint
        self.loop = loop
        client = try endpoint.makeClient(on: loop)
        self.metrics = metrics
        self.logger = logger
        self.userAgent = userAgent
        self.surroundings = surroundings
        machine = WebhookMachine(requestsMaximum: endpoint.requestsMaximum, retries: endpoint.retries)
    }

    /// Whether no request and no copy is under way.
    var isIdle: Bool { machine.isIdle }

    // MARK: News

    func consumptionBegan(epoch: UInt32) {
        machine.consumptionBegan(epoch: epoch)
        advance()
    }

    func received(_ deliveries: [Delivery]) {
        let now = SystemClocks.now()
        machine.received(deliveries.map { WebhookJob($0, at: now) })
        advance()
    }

    func copyEnded(_ tag: DeliveryTag, _ outcome: PublishOutcome) {
        if outcome == .confirmed {
            metrics.count(.retried)
            areCopiesRefused = false
        } else if !areCopiesRefused {
            // Said once, until one is taken.
            areCopiesRefused = true
            logger.log(
                .warning, "webhook.copy.refused",
                [
                    .field("app", endpoint.app), .field("reason", Self.words(outcome)),
                    .field("advice", "It is tried again; 'apus topology apply' makes missing queues."),
                ])
        }
        perform(machine.copyEnded(tag, isTaken: outcome == .confirmed, at: SystemClocks.now()))
        advance()
    }

    func stopBegan() {
        machine.stopBegan()
        advance()
    }

    /// Ends all requests; the loop may end after that.
    func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        isClosed = true
        client.close()
    }

    // MARK: Actions

    private func advance() {
        if let timer { loop.cancel(timer) }
        timer = nil
        let now = SystemClocks.now()
        let (actions, wake) = machine.advance(at: now)
        perform(actions)
        metrics.show(requestCount: machine.requestCount, isUp: !machine.isFailing && !machine.isGone)
        if machine.isIdle { surroundings.isIdle() }
        guard let wake else { return }
        timer = loop.schedule(afterNanoseconds: wake.nanoseconds(since: now.monotonic)) { [weak self] in
            self?.timer = nil
            self?.advance()
        }
    }

    private func perform(_ actions: [WebhookMachine.Action]) {
        for action in actions {
            switch action {
            case .post(let job): post(job)
            case .copy(let tag, let message, let delay): surroundings.publish(tag, message, delay)
            case .settle(let tag): surroundings.settle(tag)
            case .drop(let job, let answer): drop(job, answer)
            case .stopConsuming: surroundings.stopConsuming()
            }
        }
    }

    private func post(_ job: WebhookJob) {
        let payload: WebhookPayload
        do throws(OutcomeReport.Fault) {
            payload = try WebhookPayload(job.message)
        } catch {
            let reason = error.description
            return loop.atEndOfTick { [weak self] in self?.ended(job, .malformed(reason: reason)) }
        }
        let begun = MonotonicClock.nowNanoseconds()
        let nowSeconds = WallClock.nowMilliseconds() / 1_000
        client.post(endpoint.request(payload, nowSeconds: nowSeconds, userAgent: userAgent)) { [weak self] outcome in
            self?.answered(job, outcome, begunNanoseconds: begun)
        }
    }

    private func answered(_ job: WebhookJob, _ outcome: PostOutcome, begunNanoseconds begun: UInt64) {
        guard !isClosed else { return }
        let answer = WebhookAnswer(outcome)
        let status = outcome.status.map { WebhookMetrics.Answer(status: $0) } ?? .none
        metrics.answered(status, afterNanoseconds: MonotonicClock.nowNanoseconds() &- begun)
        if answer == .taken { metrics.count(.delivered) }
        ended(job, answer)
    }

    private func ended(_ job: WebhookJob, _ answer: WebhookAnswer) {
        // The broker redelivers a delivery that the end has interrupted.
        guard !isClosed else { return }
        let wasGone = machine.isGone
        let actions = machine.answered(job.tag, answer, at: SystemClocks.now())
        if machine.isGone, !wasGone { sayGone() }
        sayChange(answer)
        perform(actions)
        advance()
    }

    private func drop(_ job: WebhookJob, _ answer: WebhookAnswer) {
        metrics.count(.dropped)
        logger.log(
            .warning, "webhook.dropped",
            [
                .field("app", endpoint.app), .field("id", job.message.properties.messageID ?? ""),
                .field("attempts", job.failedAttempts + 1), .field("reason", answer.description.printable()),
            ])
        surroundings.settle(job.tag)
    }

    // MARK: The log

    /// Says once that the endpoint fails, and once that it works again.
    private func sayChange(_ answer: WebhookAnswer) {
        guard machine.isFailing != isFailing, !machine.isGone else { return }
        isFailing = machine.isFailing
        let fields: [LogField] = [.field("app", endpoint.app), .field("endpoint", endpoint.address.origin)]
        if isFailing {
            let reason = answer.description.printable()
            logger.log(.warning, "webhook.failing", fields + [.field("reason", reason)])
            surroundings.report("\(endpoint.address.origin): \(reason)")
        } else {
            logger.log(.info, "webhook.recovered", fields)
            surroundings.report(nil)
        }
    }

    private func sayGone() {
        logger.log(
            .error, "webhook.gone",
            [
                .field("app", endpoint.app), .field("endpoint", endpoint.address.origin),
                .field("advice", "It answered 410, so nothing is posted until SIGHUP or a restart; outcomes wait."),
            ])
        surroundings.report("\(endpoint.address.origin) answered 410; nothing is posted until SIGHUP or a restart")
    }

    private static func words(_ outcome: PublishOutcome) -> String {
        switch outcome {
        case .confirmed: "confirmed"
        case .returned(let text): "no queue took it: \(text)"
        case .refused: "the retry queue refuses it, because it is full or has no leader"
        case .rejected(let reason): reason
        }
    }
}

extension WebhookAnswer {
    /// Judges the outcome of a request; one that may have been processed is posted again as well.
    init(_ outcome: PostOutcome) {
        switch outcome {
        case .answered(let answer):
            self.init(
                status: answer.status,
                retryAfterSeconds: answer.retryAfterSeconds(nowSeconds: WallClock.nowMilliseconds() / 1_000))
        case .notSent(let failure), .ambiguous(let failure): self = .failed(reason: failure.description)
        }
    }
}

extension PostOutcome {
    /// The status of the answer; nil without one.
    var status: Int? { if case .answered(let answer) = self { answer.status } else { nil } }
}
