import EncryptedContent
import PushServiceSimulator

/// The judgement of a push.
struct Judgement {
    /// The answer; nil if none is given.
    var answer: ServiceAnswer?
    /// How long the sender is told to wait, in seconds; nil if the answer does not say.
    var retryAfterSeconds: Int64?
    /// The values of the headers, as far as they are valid.
    var headers: PushHeaders?
    /// The content, as far as it could be read.
    var content = DecryptedContent()
    /// The name of an accepted message's resource.
    var messageID: String?
    /// Whether the message is accepted and the answer does not come.
    var losesAnswer = false
    var delayMilliseconds: Int64 = 0
}

/// The decisions of one origin on one loop, in an order from the outside in.
final class PushJudge {
    private let parts: OriginParts
    private let contents: ContentReader
    private var tokens = VAPIDTokenCache()

    /// Makes a judge.
    ///
    /// - Throws: `EncryptedContentError` if OpenSSL has no memory left.
    init(_ parts: OriginParts) throws(EncryptedContentError) {
        self.parts = parts
        contents = try ContentReader(parts.directory, once: parts.once)
    }

    /// Judges a push.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - index: the number of its subscription; nil if there is none.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: the answer and what goes with it.
    func judge(_ request: WebPushRequest, to index: Int?, nowMilliseconds now: Int64) -> Judgement {
        var judgement = Judgement()
        do throws(WebPushRefusal) {
            let index = try Self.requireForm(request, index, parts)
            let key = try signingKey(request, index, nowSeconds: now / 1_000)
            judgement.headers = try HeaderRules.read(request, profile: parts.profile)
            guard request.bodyLength <= ServiceProfile.bodyBytesMaximum else { throw .contentTooLarge }
            if request.bodyLength > 0 {
                judgement.content = contents.read(request.body, for: index, signingKey: key)
                if let problem = judgement.content.problem, problem == .contentInvalid || parts.refusesUnreadable {
                    throw problem
                }
            }
            try takeStep(request, index, &judgement, nowSeconds: now / 1_000)
        } catch {
            judgement.answer = refusal(error, index)
        }
        return judgement
    }

    private func refusal(_ refusal: WebPushRefusal, _ index: Int?, status: Int? = nil) -> ServiceAnswer {
        let id = index.map(parts.directory.id) ?? "none"
        return parts.answers.answer(
            to: refusal, status: status, location: parts.url + OriginParts.trapPath + "/" + id)
    }

    private static func requireForm(
        _ request: WebPushRequest, _ index: Int?, _ parts: OriginParts
    ) throws(WebPushRefusal) -> Int {
        guard !request.repeatsHeader else { throw .headerRepeated }
        guard request.authority?.lowercased() == parts.authority else { throw .misdirected }
        guard request.method == "POST" else { throw .methodNotAllowed }
        guard let index else { throw .endpointUnknown }
        return index
    }

    /// The VAPID key of a push, which was checked; nil if it has none and needs none.
    private func signingKey(
        _ request: WebPushRequest, _ index: Int, nowSeconds now: Int64
    ) throws(WebPushRefusal) -> [UInt8]? {
        guard let value = request.authorization else {
            guard !parts.profile.alwaysNeedsVAPID, !parts.bindings.isBound(index) else { throw .vapidMissing }
            return nil
        }
        let token = try tokens.token(value)
        _ = parts.tokens.insert(token.identity)
        try token.check(origin: parts.url, profile: parts.profile, nowSeconds: now)
        guard parts.bindings.accepts(token.key, for: index) else { throw .vapidKeyMismatch }
        return token.key
    }

    private func takeStep(
        _ request: WebPushRequest, _ index: Int, _ judgement: inout Judgement, nowSeconds now: Int64
    ) throws(WebPushRefusal) {
        let due = parts.script.nextStep(for: parts.directory.id(index))
        judgement.delayMilliseconds = due?.delayMilliseconds ?? 0
        switch due?.answer {
        case .silence: return
        case .refuse(let refusal, let status, let retryAfter):
            var answer = self.refusal(refusal, index, status: status)
            if let retryAfter { answer.retryAfter = retryAfter.value(nowSeconds: now) }
            judgement.retryAfterSeconds = answer.retryAfter.flatMap { Int64($0) }
            if case .date(let secondsAhead) = retryAfter { judgement.retryAfterSeconds = secondsAhead }
            judgement.answer = answer
            return
        case .limit(let bytes): guard request.bodyLength <= bytes else { throw .deviceLimit }
        case .lose: judgement.losesAnswer = true
        case .accept, nil: break
        }
        let id = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        judgement.messageID = id
        let ttl = min(judgement.headers?.ttlSeconds ?? 0, parts.profile.ttlSecondsMaximum)
        judgement.answer = parts.answers.acceptance(
            of: AcceptedMessage(id: id, ttlSeconds: ttl, origin: parts.url))
    }
}
