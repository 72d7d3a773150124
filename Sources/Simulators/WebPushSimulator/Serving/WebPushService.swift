import Hashing
import JSON
import PushServiceSimulator
import Synchronization

/// One origin on one loop: its judge, and the books of the loop.
final class WebPushService: LoggingService {
    let server: SimulatorServer
    let parts: OriginParts
    let log: AnswerLog<RecordedWebPush, WebPushCounts>

    private let judge: PushJudge?
    private let parser = JSONParser(depthMaximum: 64, bytesMaximum: 8_192)

    init(parts: OriginParts, server: SimulatorServer) {
        self.server = server
        self.parts = parts
        log = AnswerLog(server)
        // Without memory for OpenSSL each push is answered with 500.
        judge = try? PushJudge(parts)
    }

    func makeHandler() -> any RequestHandler { WebPushHandler(service: self) }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { server.nowMilliseconds }

    /// Judges a push.
    func judge(_ push: PendingPush, _ request: WebPushRequest) -> Judgement {
        let now = nowMilliseconds
        if let index = push.index { parts.watch.withLock { $0.came(index, nowMilliseconds: now) } }
        return judge?.judge(request, to: push.index, nowMilliseconds: now)
            ?? Judgement(answer: parts.answers.answer(to: .internalError))
    }

    /// Notes a push whose answer has been given.
    func answered(_ push: PendingPush, _ answer: ServiceAnswer) {
        let now = nowMilliseconds
        log.count(status: answer.status, reason: answer.reason)
        if let index = push.index, let seconds = push.judgement.retryAfterSeconds {
            parts.watch.withLock { $0.answered(index, retryAfterSeconds: seconds, nowMilliseconds: now) }
        }
        var record = record(of: push, status: answer.status, reason: answer.reason, now)
        guard answer.isAcceptance, let index = push.index else { return finish(record) }
        record.messageID = push.judgement.messageID
        record.isDuplicate = !parts.accepted.insert(Self.identity(record))
        record.fate = .delivered
        if push.judgement.content.problem != nil { record.fate = .unreadable }
        var replaced: StoredMessage?
        if record.fate == .delivered {
            (record.fate, replaced) = parts.store.withLock { fate(record, index, in: &$0, now) }
        }
        if record.fate == .delivered, record.topic != nil, parts.profile == .fcm {
            record.isDelayed = parts.burst.withLock { $0.isDelayed(index, nowMilliseconds: now) }
        }
        if let replaced { add(self.record(of: replaced, .replaced, record.subscription, now)) }
        finish(record)
    }

    /// Notes a push that a fault answered.
    func answeredFaultily(_ push: PendingPush, _ answer: ServiceAnswer) {
        let now = nowMilliseconds
        if let index = push.index, let seconds = answer.retryAfter.flatMap({ Int64($0) }) {
            parts.watch.withLock { $0.answered(index, retryAfterSeconds: seconds, nowMilliseconds: now) }
        }
        add(record(of: push, status: answer.status, reason: answer.reason, now))
    }

    /// Lets the messages go that wait for browsers that are online again.
    func deliverWaiting() {
        let now = nowMilliseconds
        for index in parts.store.withLock({ $0.indices }) {
            let id = parts.directory.id(index)
            let (delivered, expired) = parts.store.withLock { store in
                store.isOffline(id) ? ([], []) : store.take(index, nowMilliseconds: now)
            }
            for message in expired { add(record(of: message, .expired, id, now)) }
            for message in delivered { add(record(of: message, .delivery, id, now)) }
        }
    }

    private func finish(_ record: RecordedWebPush) {
        add(record)
        server.progress.requestAnswered()
    }

    // MARK: Records

    /// Counts and records what happened to a message.
    private func add(_ record: RecordedWebPush) {
        switch record.kind {
        case .push:
            if record.isDuplicate { log.noted.duplicates += 1 }
            if record.isDelayed { log.noted.delayed += 1 }
            if record.isReused { log.noted.reusedKeys += 1 }
            switch record.fate {
            case .delivered: log.noted.delivered += 1
            case .dropped: log.noted.dropped += 1
            case .unreadable: log.noted.unreadable += 1
            case .stored, nil: break
            }
        case .delivery: log.noted.delivered += 1
        case .replaced: log.noted.replaced += 1
        case .expired: log.noted.expired += 1
        }
        log.add(record) { RecordLine.append(record, parser: parser, to: &$0) }
    }

    private func record(
        of push: PendingPush, status: Int, reason: String?, _ now: Int64
    ) -> RecordedWebPush {
        let judgement = push.judgement
        var record = RecordedWebPush(
            timeMilliseconds: now, origin: parts.name, subscription: push.id, status: status, reason: reason,
            isReused: judgement.content.isReused, ttlSeconds: judgement.headers?.ttlSeconds,
            urgency: judgement.headers?.urgency, topic: judgement.headers?.topic,
            plaintext: judgement.content.plaintext)
        record.event = event(of: record.plaintext)
        return record
    }

    private func record(
        of message: StoredMessage, _ kind: RecordedWebPush.Kind, _ id: String, _ now: Int64
    ) -> RecordedWebPush {
        RecordedWebPush(
            kind: kind, timeMilliseconds: now, origin: parts.name, subscription: id, messageID: message.id,
            topic: message.topic, event: event(of: message.plaintext), plaintext: message.plaintext)
    }

    private func event(of plaintext: [UInt8]?) -> String? {
        guard let name = parts.eventMember, let plaintext else { return nil }
        return (try? parser.parse(plaintext))?.object?.member(named: name)?.string
    }

    private static func identity(_ record: RecordedWebPush) -> UInt128 {
        var digest = WordDigest()
        digest.mix(record.subscription)
        if let event = record.event {
            digest.mix("event")
            digest.mix(event)
        } else {
            digest.mix("plaintext")
            (record.plaintext ?? []).withUnsafeBytes { digest.mix($0) }
        }
        digest.finish()
        return UInt128(digest.high) << 64 | UInt128(digest.low)
    }

    private func fate(
        _ record: RecordedWebPush, _ index: Int, in store: inout MessageStore, _ now: Int64
    ) -> (RecordedWebPush.Fate, replaced: StoredMessage?) {
        guard store.isOffline(record.subscription) else { return (.delivered, nil) }
        let ttl = min(record.ttlSeconds ?? 0, parts.profile.ttlSecondsMaximum)
        let message = StoredMessage(
            id: record.messageID ?? "", topic: record.topic, expiresAtMilliseconds: now + ttl * 1_000,
            plaintext: record.plaintext ?? [])
        switch store.admit(message, for: index, nowMilliseconds: now) {
        case .stored(let replaced): return (.stored, replaced)
        case .dropped: return (.dropped, nil)
        }
    }
}

/// A push until it is answered: its subscription, and what was decided.
final class PendingPush {
    /// The number of the subscription; nil if the endpoint is unknown.
    let index: Int?
    /// The name of the subscription; empty if the endpoint is unknown.
    let id: String
    var judgement = Judgement()

    init(_ request: WebPushRequest, _ directory: SubscriptionDirectory) {
        index = directory.index(ofPath: request.path)
        id = index.map(directory.id) ?? ""
    }

    /// The name by which faults choose.
    var token: [UInt8] { Array(id.utf8) }
}
