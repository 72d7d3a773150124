import ChangeEvents
import DispatchCore
import EventLoop
import HTTPServer
import JSON
import Messages
import Metrics
import Notifications
import RegistryCore
import StructuredLogging

/// Takes requests with events, publishes them, and answers when RabbitMQ has confirmed; lives on a loop of its own.
///
/// The desk refuses a request at once while RabbitMQ takes nothing, and while as many wait as may.
final class EventDesk {
    /// How many requests may wait for RabbitMQ, and how many of one token.
    private static let requestsMaximum = 256
    private static let shareMaximum = 192
    /// How many bytes of events may wait.
    private static let bytesMaximum = 32 << 20
    /// How long a request waits for RabbitMQ.
    private static let waitNanoseconds: UInt64 = 10_000_000_000
    private static let lookIntervalNanoseconds: UInt64 = 1_000_000_000

    private struct Pending {
        /// The request; nil once it has its answer.
        var request: SuspendedRequest?
        var batch: EventBatch
        let token: String
        /// The index in the batch of each message, whose identifiers follow one another.
        let indices: [Int]
        /// How many messages have no outcome.
        var openCount: Int
        let bytes: Int
        let deadlineNanoseconds: UInt64

        mutating func take(_ outcome: PublishOutcome, ofMessage number: Int) {
            openCount -= 1
            if indices.indices.contains(number) { batch.ended(at: indices[number], outcome) }
        }
    }

    private let loop: EventLoop
    private let publishing: EventPublishing
    private let apps: [RegistryAPIApp]
    private let credentials: CredentialGuard
    private let metrics: EventMetrics
    private let logger: Logger
    private let nowMilliseconds: () -> Int64
    private var validator: EventValidator
    private var recentKeys: RecentKeys

    private var lastIdentifier: UInt64 = 0
    /// The requests with messages whose outcome has not come, by the identifier of their first message.
    private var pending: [UInt64: Pending] = [:]
    /// The first identifier of the request of each message without an outcome.
    private var owners: [UInt64: UInt64] = [:]
    private var pendingBytes = 0
    private var countsByToken: [String: Int] = [:]
    private var isLookScheduled = false
    private var isUnroutableLogged = false

    init(
        _ publishing: EventPublishing, apps: [RegistryAPIApp], credentials: CredentialGuard, loop: EventLoop,
        metrics: EventMetrics, logger: Logger, nowMilliseconds: @escaping () -> Int64
    ) {
        self.publishing = publishing
        self.apps = apps
        self.credentials = credentials
        self.loop = loop
        self.metrics = metrics
        self.logger = logger
        self.nowMilliseconds = nowMilliseconds
        validator = EventValidator(apps: publishing.apps, sources: publishing.sources)
        recentKeys = RecentKeys(rememberMilliseconds: publishing.memory?.rememberMilliseconds ?? 0)
    }

    // MARK: Requests

    /// Takes a request of a token that may publish.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - token: its token.
    ///   - suspended: to be answered.
    ///   - isReady: whether RabbitMQ takes events now.
    func take(_ request: HTTPRequest, _ token: APIToken, _ suspended: SuspendedRequest, whileReady isReady: Bool) {
        loop.preconditionOnLoop()
        do throws(NativeProblem) {
            guard isReady else {
                throw NativeProblem(.busy, "RabbitMQ takes no events at the moment. Try again.", retryAfterSeconds: 5)
            }
            try checkRoom(for: request, of: token)
            let events = try EventRequest(request, tokenName: token.name, nowMilliseconds: nowMilliseconds())
            credentials.oweEvents(of: token, count: events.messages.count - 1)
            publish(events, of: token, suspended)
        } catch {
            metrics.ended(error)
            suspended.answer(error.response)
        }
    }

    private func checkRoom(for request: HTTPRequest, of token: APIToken) throws(NativeProblem) {
        guard countsByToken[token.name, default: 0] < Self.shareMaximum else {
            throw NativeProblem(.tooManyRequests, "Too many requests of this token wait for RabbitMQ.")
        }
        guard pending.count < Self.requestsMaximum, pendingBytes + request.body.count <= Self.bytesMaximum else {
            throw NativeProblem(.busy, "Too many events wait for RabbitMQ. Try again.")
        }
    }

    private func publish(_ events: EventRequest, of token: APIToken, _ suspended: SuspendedRequest) {
        var batch = EventBatch(tellsOfEach: events.isBatch, keepsHistory: publishing.keepsHistory)
        var messages: [OutgoingMessage] = []
        var indices: [Int] = []
        let firstIdentifier = lastIdentifier + 1
        for (index, message) in events.messages.enumerated() {
            do throws(NativeProblem) {
                guard let (event, message) = try checked(message, token) else {
                    batch.skipping()
                    continue
                }
                if events.key != nil { try refuseReusedKey(of: event, message) }
                lastIdentifier += 1
                messages.append(
                    OutgoingMessage(
                        identifier: lastIdentifier, exchange: publishing.exchange, routingKey: event.routingKey,
                        message: message))
                indices.append(index)
                owners[lastIdentifier] = firstIdentifier
                batch.publishing(event)
            } catch {
                batch.refusing(error)
            }
        }
        guard !messages.isEmpty else { return answer(suspended, batch) }
        let bytes = messages.reduce(0) { $0 + $1.message.body.count }
        pendingBytes += bytes
        countsByToken[token.name, default: 0] += 1
        pending[firstIdentifier] = Pending(
            request: suspended, batch: batch, token: token.name, indices: indices, openCount: indices.count,
            bytes: bytes, deadlineNanoseconds: MonotonicClock.nowNanoseconds() + Self.waitNanoseconds)
        publishing.publisher.publish(messages)
        scheduleLook()
    }

    /// Checks an event as a worker would, and that the token is for its app.
    ///
    /// - Returns: the event and its message; nil if there is nothing to publish.
    private func checked(_ message: Message, _ token: APIToken) throws(NativeProblem) -> (ChangeEvent, Message)? {
        let (event, publishable): (ChangeEvent, Message)
        do throws(EventRejection) {
            (event, publishable) = try validator.publishable(message, atMilliseconds: nowMilliseconds())
        } catch {
            guard error.reason != .skipped else { return nil }
            throw NativeProblem(error)
        }
        if let app = token.app, appName(of: event) != app {
            throw NativeProblem(
                .forbidden, "The token is for the app \"\(app.prefix(256))\" alone, and the event is not of it.")
        }
        return (event, publishable)
    }

    /// Refuses a key that this process has published with another content.
    private func refuseReusedKey(of event: ChangeEvent, _ message: Message) throws(NativeProblem) {
        let key = EventIdentity.key(source: event.source, identifier: event.identifier)
        guard recentKeys.isReused(key, for: message.contentDigest, at: nowMilliseconds()) else { return }
        throw .keyReused
    }

    /// The app that an event is of; nil if it may concern several.
    private func appName(of event: ChangeEvent) -> String? {
        switch event.kind {
        case .push(let push): push.app
        case .record(let change): change.app
        case .dataset(let change):
            apps.first { $0.identityPoolIDs.contains(change.key.identityPoolID) }?.name
        }
    }

    // MARK: Outcomes

    /// RabbitMQ has answered for some messages.
    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for (identifier, outcome) in outcomes {
            guard let owner = owners.removeValue(forKey: identifier) else { continue }
            if case .returned(let reason) = outcome { logUnroutable(reason) }
            if case .confirmed = outcome { isUnroutableLogged = false }
            guard let index = pending.index(forKey: owner) else { continue }
            pending.values[index].take(outcome, ofMessage: Int(identifier - owner))
            let request = pending.values[index]
            guard request.openCount == 0 else { continue }
            remove(owner)
            if let suspended = request.request { answer(suspended, request.batch) }
        }
    }

    private func remove(_ owner: UInt64) {
        guard let request = pending.removeValue(forKey: owner) else { return }
        pendingBytes -= request.bytes
        let rest = countsByToken[request.token, default: 1] - 1
        countsByToken[request.token] = rest == 0 ? nil : rest
    }

    private func answer(_ request: SuspendedRequest, _ batch: EventBatch) {
        metrics.ended(batch)
        request.answer(batch.response)
    }

    private func logUnroutable(_ reason: String) {
        guard !isUnroutableLogged else { return }
        isUnroutableLogged = true
        logger.log(
            .error, "registry.events.unroutable",
            [.field("reason", reason), .field("advice", "Run `apus topology apply`.")])
    }

    // MARK: Time

    private func scheduleLook() {
        guard !isLookScheduled else { return }
        isLookScheduled = true
        loop.schedule(afterNanoseconds: Self.lookIntervalNanoseconds) { [weak self] in
            guard let self else { return }
            isLookScheduled = false
            look(nowNanoseconds: MonotonicClock.nowNanoseconds())
            if !pending.isEmpty { scheduleLook() }
        }
    }

    /// Answers requests that have waited long enough.
    ///
    /// Their messages count until RabbitMQ has answered for them.
    private func look(nowNanoseconds now: UInt64) {
        for (owner, request) in pending where now >= request.deadlineNanoseconds {
            guard let suspended = request.request else { continue }
            var batch = request.batch
            batch.gaveUp()
            pending[owner]?.request = nil
            answer(suspended, batch)
        }
    }
}
