import ChangeEvents
import EventLoop
import HTTPClient
import JSON
import Messages
import WorkerConfiguration

/// Publishes events by `POST /v1/events` of a registry's API, in batches, one request at a time.
///
/// The API confirms as RabbitMQ does, so each event gets the outcome that it would get over AMQP. While the API cannot
/// be reached or takes nothing, the same events are sent again.
final class HTTPEventPublisher: MessagePublisher {
    private let core: LoopBound<HTTPEventPublisherCore>

    /// Creates a publisher, which sends nothing before it is started.
    ///
    /// - Parameters:
    ///   - address: the API, without `/v1/events`.
    ///   - token: a bearer token that may publish.
    /// - Throws: `EventLoopError` if there is no thread, `HTTPClient.Failure` if libcurl cannot be set up.
    init(_ address: PostAddress, token: Secret) throws {
        let loop = try EventLoop(name: "http-publish")
        core = LoopBound(
            HTTPEventPublisherCore(address, token: token, client: try HTTPMultiClient(loop: loop), loop: loop), to: loop
        )
    }

    /// The path of events in the API at an address.
    static func path(at address: PostAddress) -> String {
        address.path + (address.path.hasSuffix("/") ? "" : "/") + "v1/events"
    }

    func start(handler: any PublishHandler) { core.loop.submit { [core] in core.value.handler = handler } }

    func publish(_ messages: [OutgoingMessage]) { core.loop.submit { [core] in core.value.publish(messages) } }

    func close(deadlineSeconds: Double) async -> Bool {
        let isComplete = await withCheckedContinuation { continuation in
            core.loop.submit { [core] in
                core.value.close(deadlineSeconds: deadlineSeconds) { continuation.resume(returning: $0) }
            }
        }
        core.loop.stopAndJoin()
        return isComplete
    }
}

/// The part of the publisher that lives on its loop.
private final class HTTPEventPublisherCore {
    /// The most events and bytes of a request; the API takes 1,000 and 1 MiB.
    private static let eventsMaximum = 100
    private static let bytesMaximum = 512 * 1_024
    private static let pauseSecondsMaximum = 30

    private let address: PostAddress
    private let token: Secret
    private let client: HTTPMultiClient
    private let loop: EventLoop

    var handler: (any PublishHandler)?
    private var waiting: [OutgoingMessage] = []
    /// The events of the request under way, or of the one that is sent again after a pause.
    private var batch: [OutgoingMessage] = []
    private var closing: ((Bool) -> Void)?

    init(_ address: PostAddress, token: Secret, client: HTTPMultiClient, loop: EventLoop) {
        self.address = address
        self.token = token
        self.client = client
        self.loop = loop
    }

    func publish(_ messages: [OutgoingMessage]) {
        waiting += messages
        if batch.isEmpty { sendNext() }
    }

    private func sendNext() {
        guard !waiting.isEmpty else {
            if closing != nil { finish(isComplete: true) }
            return
        }
        var bytes = 0
        let count = waiting.prefix(Self.eventsMaximum).prefix { message in
            bytes += message.message.body.count
            return bytes <= Self.bytesMaximum
        }.count
        batch = Array(waiting.prefix(max(1, count)))
        waiting.removeFirst(batch.count)
        send()
    }

    private func send() {
        guard !batch.isEmpty else { return }
        var body = [UInt8(ascii: "[")]
        for (index, message) in batch.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += message.message.body
        }
        body.append(UInt8(ascii: "]"))
        let request = PostRequest(
            to: address.destination, path: HTTPEventPublisher.path(at: address),
            fields: [
                ("content-type", "application/cloudevents-batch+json"), ("authorization", "Bearer \(token.revealed)"),
            ], body: body)
        client.post(request) { [weak self] outcome in self?.ended(outcome) }
    }

    private func ended(_ outcome: PostOutcome) {
        switch outcome {
        case .answered(let answer): take(answer)
        case .notSent(let failure), .ambiguous(let failure): pause("\(failure)", seconds: 1)
        }
    }

    private func take(_ answer: PostAnswer) {
        let parser = JSONParser(roundsNumbers: true)
        let root = try? parser.parse(answer.body)
        let results = root?["events"]?.array.map(Array.init)
        let detail = root?["detail"]?.string ?? "the API answered with \(answer.status)"
        guard answer.status != 202 else { return end(batch.map { ($0.identifier, .confirmed) }) }
        guard let results, results.count == batch.count else {
            guard [429, 503].contains(answer.status) else {
                return end(batch.map { ($0.identifier, .returned(detail)) })
            }
            let seconds = answer.retryAfterSeconds(nowSeconds: WallClock.nowMilliseconds() / 1_000)
            return pause(detail, seconds: seconds ?? 1)
        }
        var outcomes: [(identifier: UInt64, outcome: PublishOutcome)] = []
        var again: [OutgoingMessage] = []
        for (message, result) in zip(batch, results) {
            switch result["status"]?.int64 {
            case 202: outcomes.append((message.identifier, .confirmed))
            case 503: again.append(message)
            default: outcomes.append((message.identifier, .rejected(result["detail"]?.string ?? detail)))
            }
        }
        guard !again.isEmpty else { return end(outcomes) }
        handler?.publishesEnded(outcomes)
        batch = again
        pause(detail, seconds: 1)
    }

    private func end(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        handler?.publishesEnded(outcomes)
        batch = []
        sendNext()
    }

    private func pause(_ reason: String, seconds: Int) {
        handler?.publisherStateChanged(isReady: false, reason: reason)
        let seconds = min(max(1, seconds), Self.pauseSecondsMaximum)
        loop.schedule(afterNanoseconds: UInt64(seconds) * 1_000_000_000) { [weak self] in self?.send() }
    }

    func close(deadlineSeconds: Double, _ completion: @escaping (Bool) -> Void) {
        closing = completion
        guard !batch.isEmpty else { return finish(isComplete: true) }
        loop.schedule(afterNanoseconds: UInt64(max(0, deadlineSeconds) * 1_000_000_000)) { [weak self] in
            self?.finish(isComplete: false)
        }
    }

    private func finish(isComplete: Bool) {
        guard let closing else { return }
        self.closing = nil
        batch = []
        waiting = []
        client.close()
        closing(isComplete)
    }
}
