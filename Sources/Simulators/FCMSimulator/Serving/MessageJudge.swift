import PushServiceSimulator
import Synchronization

/// A request to send a message, however it came.
struct SendRequest {
    var method: String
    var path: String
    var authorization: String?
    var contentType: String?
    var body: [UInt8]
}

/// A body that was read against the schema.
struct ReadMessage {
    /// The message; nil if the body is not that of a request.
    let message: DecodedMessage?
    /// The violations of the schema, by field.
    let violations: [FieldViolation]
    /// 128 bits that follow from target and content; 0 without a message.
    let identity: UInt128

    init(_ body: [UInt8]) {
        var decoder = MessageDecoder()
        let node = decoder.decode(body.isEmpty ? Array("{}".utf8) : body)
        violations = decoder.violations
        message = node == .null ? nil : DecodedMessage(node)
        identity = message?.identity ?? 0
    }

    /// The target of the message, by the bytes with which faults choose.
    var token: [UInt8] { Array((message?.target?.value ?? "").utf8) }
}

/// The judgement of a message.
struct Judgement {
    /// The answer; nil if none is given.
    var answer: ServiceAnswer?
    /// The name of an accepted message.
    var name: String?
    /// Whether the message is accepted and the answer does not come.
    var losesAnswer = false
    var isDelayed = false
    var delayMilliseconds: Int64 = 0
}

/// FCM's decisions, in the order in which Google's servers seem to make them: from the outside in.
///
/// All loops share one, with its books behind locks.
final class MessageJudge: Sendable {
    private static let contentType = "application/json"

    let project: FCMProject
    let tokens = AccessTokens<FCMGrant>()
    let script: ScriptBook<TargetAnswer>
    private let accounts: [String: TokenEndpoint.Account]
    private let quotas: Mutex<QuotaMachine>
    private let watch = Mutex(RetryWatch())
    private let quotaRetryAfterSeconds: Int?

    init(_ configuration: FCMSimulatorConfiguration, accounts: [String: TokenEndpoint.Account]) {
        project = FCMProject(
            id: configuration.projectID, number: configuration.projectNumber,
            messagesPerMinute: configuration.quotas.projectPerMinute ?? 600_000)
        self.accounts = accounts
        script = ScriptBook(configuration.script)
        quotas = Mutex(QuotaMachine(configuration.quotas))
        quotaRetryAfterSeconds = configuration.quotaRetryAfterSeconds
    }

    /// The messages that came back too soon: after 5xx, and after 429.
    var earlyRetries: (afterServerError: Int, afterThrottling: Int) {
        watch.withLock { ($0.earlyAfterServerError, $0.earlyAfterThrottling) }
    }

    /// Notes that a message has come, whatever becomes of it.
    func came(_ read: ReadMessage, nowMilliseconds: Int64) {
        guard read.message?.target != nil else { return }
        watch.withLock { watch in
            if watch.isWatching { watch.came(read.identity, nowMilliseconds: nowMilliseconds) }
        }
    }

    /// Notes an answer that was given, by a rule or by a fault.
    func answered(_ read: ReadMessage, status: Int, retryAfter: String?, nowMilliseconds: Int64) {
        guard status == 429 || status >= 500, read.message?.target != nil else { return }
        watch.withLock {
            $0.answered(read.identity, status: status, retryAfter: retryAfter, nowMilliseconds: nowMilliseconds)
        }
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - read: its body, as it was read.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: the answer and what goes with it.
    func judge(_ request: SendRequest, _ read: ReadMessage, nowMilliseconds now: Int64) -> Judgement {
        guard request.method == "POST", let project = Self.project(inPath: request.path) else {
            return refused(.notFoundPage)
        }
        if let refusal = senderRefusal(request.authorization, now) { return refused(refusal) }
        guard project == self.project.id || project == self.project.number else { return refused(.unknownProject) }
        guard quotas.withLock({ $0.admitRequest(nowMilliseconds: now) }) else {
            return refused(.rateLimit, retryAfter: quotaRetryAfterSeconds.map { String($0) })
        }
        let judgement = judgeContent(request, read, project: project, nowMilliseconds: now)
        if let status = judgement.answer?.status, status == 429 || status >= 500 {
            quotas.withLock { $0.giveBackRequest() }
        }
        return judgement
    }

    /// The project in `/v1/projects/{project}/messages:send`; nil for any other path.
    private static func project(inPath path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "projects", !parts[3].isEmpty,
            parts[4] == "messages:send"
        else { return nil }
        return String(parts[3])
    }

    private func senderRefusal(_ authorization: String?, _ now: Int64) -> FCMRefusal? {
        // The scheme's case does not matter (RFC 9110, section 11.1).
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return .credentialsMissing }
        guard let grant = tokens.grant(of: String(authorization.dropFirst(7)), nowMilliseconds: now) else {
            return .accessTokenExpired
        }
        guard grant.allowsSending else { return .scopeInsufficient }
        return accounts[grant.account]?.maySend == true ? nil : .permissionDenied
    }

    // MARK: The message

    private func judgeContent(
        _ request: SendRequest, _ read: ReadMessage, project: String, nowMilliseconds now: Int64
    ) -> Judgement {
        let type = request.contentType?.split(separator: ";").first.map { $0.lowercased() }
        guard type == Self.contentType else {
            return refused(
                .badRequest([FieldViolation(field: "", description: "The content type has to be application/json.")]))
        }
        guard let message = read.message, read.violations.isEmpty else { return refused(.badRequest(read.violations)) }
        if let error = MessageRules.refusal(of: message) { return refused(error) }
        guard let target = message.target, MessageRules.isWellFormed(target) else { return refused(.invalidToken) }
        let step = script.nextStep(for: target.scriptAddress)
        var judgement = Judgement()
        judgement.delayMilliseconds = step?.delayMilliseconds ?? 0
        switch step?.answer {
        case .silence: return judgement
        case .refuse(let refusal, let status, let retryAfter):
            judgement.answer = refused(refusal, status: status, retryAfter: retryAfter).answer
            return judgement
        case .lose: judgement.losesAnswer = true
        case .accept, nil: break
        }
        return accepted(message, target, project: project, judgement, nowMilliseconds: now)
    }

    private func accepted(
        _ message: DecodedMessage, _ target: MessageTarget, project: String, _ judgement: Judgement,
        nowMilliseconds now: Int64
    ) -> Judgement {
        var judgement = judgement
        guard !message.isValidateOnly else {
            let name = "projects/\(project)/messages/fake_message_id"
            judgement.name = name
            judgement.answer = .accepted(name)
            return judgement
        }
        let admission = quotas.withLock {
            $0.admit(target, isCollapsible: message.isCollapsible, nowMilliseconds: now)
        }
        guard admission != .refused else {
            judgement.answer = refused(.deviceQuota).answer
            judgement.losesAnswer = false
            return judgement
        }
        judgement.isDelayed = admission == .delayed
        let name = Self.messageName(project: project, nowMilliseconds: now)
        judgement.name = name
        judgement.answer = .accepted(name)
        return judgement
    }

    /// A name as FCM makes it: microseconds, and 16 hexadecimal digits.
    private static func messageName(project: String, nowMilliseconds now: Int64) -> String {
        let digits = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        return "projects/\(project)/messages/0:\(now * 1_000 + Int64.random(in: 0..<1_000))%\(digits)"
    }

    private func refused(_ error: GoogleError) -> Judgement {
        Judgement(answer: .json(status: error.status, reason: error.code, error.body))
    }

    private func refused(_ refusal: FCMRefusal, status: Int? = nil, retryAfter: String? = nil) -> Judgement {
        var answer = refusal.answer(project, status: status)
        answer.retryAfter = retryAfter
        return Judgement(answer: answer)
    }
}
