import Backoffice
import ChangeEvents
import Essentials
import EventLoop
import HTTPClient
import Messages
import StructuredLogging

/// Posts the outcomes of one app: it carries out the actions of the app's machine, on the loop of all apps.
final class WebhookSender {
    /// The parts that the senders of all apps share.
    struct Shared {
        let loop: EventLoop
        let source: any OutcomeSource
        let publisher: any MessagePublisher
        /// Names the retry queue of an app and a delay.
        let retryQueue: @Sendable (_ app: String, _ delayMilliseconds: Int64) -> String
        let health: WebhookHealthBoard
        let logger: Logger
        /// The program and its version, as backends may log them.
        let userAgent: String
    }

    /// How many of the bits of a publish's number count the publishes of one sender; those above are its index.
    private static let publishCountBits: UInt64 = 48

    private let endpoint: WebhookEndpoint
    /// Which queue of the source is the app's.
    private let index: Int
    private let shared: Shared
    private let metrics: WebhookMetrics
    private let client: HTTPMultiClient
    private var machine: WebhookMachine
    /// The copies that RabbitMQ has not confirmed, by the number of their publish.
    private var copies: [UInt64: DeliveryTag] = [:]
    private var nextPublish: UInt64
    private var timer: EventLoop.Timer?
    private var isFailing = false
    private var areCopiesRefused = false
    private var isClosed = false
    private var stopped: ((_ isComplete: Bool) -> Void)?

    init(
        _ endpoint: WebhookEndpoint, index: Int, shared: Shared, metrics: WebhookMetrics
    ) throws(HTTPClient.Failure) {
        self.endpoint = endpoint
        self.index = index
        self.shared = shared
        self.metrics = metrics
        client = try endpoint.makeClient(on: shared.loop)
        machine = WebhookMachine(requestsMaximum: endpoint.requestsMaximum, retries: endpoint.retries)
        nextPublish = UInt64(index) << Self.publishCountBits
    }

    /// The index of the sender that gave a publish its number.
    static func index(ofPublish identifier: UInt64) -> Int { Int(identifier >> publishCountBits) }

    // MARK: Events

    func consumptionBegan(epoch: UInt32) {
        machine.consumptionBegan(epoch: epoch)
        advance()
    }

    func received(_ deliveries: [Delivery]) {
        let now = SystemClocks.now()
        machine.received(deliveries.map { WebhookJob($0, at: now) })
        advance()
    }

    func publishEnded(_ identifier: UInt64, _ outcome: PublishOutcome) {
        guard let tag = copies.removeValue(forKey: identifier) else { return }
        if outcome == .confirmed {
            metrics.count(.retried)
            areCopiesRefused = false
        } else if !areCopiesRefused {
            // Said once, until one is taken.
            areCopiesRefused = true
            shared.logger.log(
                .warning, "webhook.copy.refused",
                [
                    .field("app", endpoint.app), .field("reason", Self.words(outcome)),
                    .field("advice", "It is tried again; 'apus topology apply' makes missing queues."),
                ])
        }
        perform(machine.copyEnded(tag, isTaken: outcome == .confirmed, at: SystemClocks.now()))
        advance()
    }

    /// Posts nothing more, and ends when no request and no copy is under way.
    ///
    /// - Parameters:
    ///   - seconds: how long to wait for that; then all requests end.
    ///   - stopped: hears whether everything that was begun was finished in time.
    func stop(withinSeconds seconds: Double, stopped: @escaping (_ isComplete: Bool) -> Void) {
        self.stopped = stopped
        machine.stopBegan()
        shared.loop.schedule(afterNanoseconds: UInt64(max(0, seconds) * 1_000_000_000)) { [weak self] in
            self?.close(isComplete: false)
        }
        advance()
    }

    private func close(isComplete: Bool) {
        guard let stopped else { return }
        self.stopped = nil
        if let timer { shared.loop.cancel(timer) }
        timer = nil
        isClosed = true
        client.close()
        stopped(isComplete)
    }

    // MARK: Actions

    private func advance() {
        if let timer { shared.loop.cancel(timer) }
        timer = nil
        let now = SystemClocks.now()
        let (actions, wake) = machine.advance(at: now)
        perform(actions)
        metrics.show(requestCount: machine.requestCount, isUp: !machine.isFailing && !machine.isGone)
        if machine.isIdle { close(isComplete: true) }
        guard let wake else { return }
        timer = shared.loop.schedule(afterNanoseconds: wake.nanoseconds(since: now.monotonic)) { [weak self] in
            self?.timer = nil
            self?.advance()
        }
    }

    private func perform(_ actions: [WebhookMachine.Action]) {
        for action in actions {
            switch action {
            case .post(let job): post(job)
            case .copy(let tag, let message, let delay): publish(message, of: tag, delayMilliseconds: delay)
            case .settle(let tag): shared.source.settle([tag], of: index)
            case .drop(let job, let answer): drop(job, answer)
            case .stopConsuming: shared.source.stopConsuming(index)
            }
        }
    }

    private func publish(_ copy: Message, of tag: DeliveryTag, delayMilliseconds: Int64) {
        let retryQueue = shared.retryQueue(endpoint.app, delayMilliseconds)
        copies[nextPublish] = tag
        shared.publisher.publish([
            OutgoingMessage(identifier: nextPublish, exchange: "", routingKey: retryQueue, message: copy)
        ])
        nextPublish += 1
    }

    private func post(_ job: WebhookJob) {
        let payload: WebhookPayload
        do throws(OutcomeReport.Fault) {
            payload = try WebhookPayload(job.message)
        } catch {
            let reason = error.description
            return shared.loop.atEndOfTick { [weak self] in self?.ended(job, .malformed(reason: reason)) }
        }
        let begun = MonotonicClock.nowNanoseconds()
        let nowSeconds = WallClock.nowMilliseconds() / 1_000
        client.post(endpoint.request(payload, nowSeconds: nowSeconds, userAgent: shared.userAgent)) {
            [weak self] outcome in
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
        shared.logger.log(
            .warning, "webhook.dropped",
            [
                .field("app", endpoint.app), .field("id", job.message.properties.messageID ?? ""),
                .field("attempts", job.failedAttempts + 1), .field("reason", answer.description.printable()),
            ])
        shared.source.settle([job.tag], of: index)
    }

    // MARK: The log

    /// Says once that the endpoint fails, and once that it works again.
    private func sayChange(_ answer: WebhookAnswer) {
        guard machine.isFailing != isFailing, !machine.isGone else { return }
        isFailing = machine.isFailing
        let fields: [LogField] = [.field("app", endpoint.app), .field("endpoint", endpoint.address.origin)]
        if isFailing {
            let reason = answer.description.printable()
            shared.logger.log(.warning, "webhook.failing", fields + [.field("reason", reason)])
            report("\(endpoint.address.origin): \(reason)")
        } else {
            shared.logger.log(.info, "webhook.recovered", fields)
            report(nil)
        }
    }

    private func sayGone() {
        shared.logger.log(
            .error, "webhook.gone",
            [
                .field("app", endpoint.app), .field("endpoint", endpoint.address.origin),
                .field("advice", "It answered 410, so nothing is posted until SIGHUP or a restart; outcomes wait."),
            ])
        report("\(endpoint.address.origin) answered 410; nothing is posted until SIGHUP or a restart")
    }

    private func report(_ problem: String?) { shared.health.report(problem, endpoint: index) }

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
