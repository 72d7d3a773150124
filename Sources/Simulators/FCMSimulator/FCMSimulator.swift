import HTTPServer
import JSON
public import PushServiceSimulator

/// A server that treats its clients as FCM's HTTP v1 interface and Google's token endpoint do, on this machine.
///
/// One address serves `POST /v1/projects/{project}/messages:send` and `POST /token` by HTTP/2 over TLS. It is as strict
/// as the documentation allows, so that a sender that passes here also passes at Google. Its certificate is made at
/// start; a sender has to trust `trustAnchorPEM`.
public final class FCMSimulator: Sendable {
    /// The port that it listens on.
    public var port: UInt16 { loops.port }
    /// The port that speaks HTTP/1.1; nil if there is none.
    public var http1Port: UInt16? { webServer?.port }
    /// The certificate that senders have to trust, in PEM.
    public var trustAnchorPEM: String { loops.trustAnchorPEM }

    private let parts: FCMParts
    private let loops: SimulatorLoops<FCMService>
    private let webServer: HTTPServer?

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, a key cannot be read, the record file cannot be written
    ///   or an address cannot be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: FCMSimulatorConfiguration) async throws -> FCMSimulator {
        try await FCMSimulator(configuration)
    }

    private init(_ configuration: FCMSimulatorConfiguration) async throws {
        try configuration.validate()
        var serving = configuration.serving
        let identity = try serving.servingIdentity()
        serving.identity = identity
        let parts = FCMParts(configuration, accounts: try configuration.endpointAccounts())
        let traits = ServiceTraits(
            headerNames: HeaderNames(FCMRequestField.names), bodyBytesMaximum: 1 << 16,
            goAwayDebugData: { Array($0.utf8) })
        let loops = try await SimulatorLoops(serving, traits: traits, name: "fcm-simulator") {
            FCMService(parts: parts, server: $0)
        }
        if let port = configuration.http1Port {
            webServer = try await loops.serveHTTP1(
                HTTPServerConfiguration(
                    name: "fcm-simulator", settingName: "http1Port", host: serving.host, port: port,
                    identity: identity), FCMWebHandler(loops))
        } else {
            webServer = nil
        }
        self.parts = parts
        self.loops = loops
    }

    // MARK: Changes

    /// Adds faults while it runs.
    public func add(_ faults: SimulatorFaults) { loops.faults.add(faults) }

    /// Removes the faults; their effects on existing connections stay.
    public func removeFaults() { loops.faults.removeAll() }

    /// Puts a whole script in the place of the present one.
    public func replaceScript(by script: TargetScript) { parts.judge.script.replace(by: script) }

    /// Changes what becomes of the addresses that a script names; all addresses begin with their first steps again.
    public func change(by script: TargetScript) { parts.judge.script.change(by: script) }

    /// Lets all access tokens that were given out expire at once.
    public func revokeAccessTokens() { parts.judge.tokens.revokeAll() }

    // MARK: Numbers

    /// The numbers so far.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> FCMSummary {
        var summary = try await loops.summary()
        // Messages that were only validated are accepted for the sender alone.
        summary.accepted -= summary.validated
        (summary.distinctMessages, summary.isMessageCountComplete) = parts.identifiers.count
        (summary.earlyAfterServerError, summary.earlyAfterThrottling) = parts.judge.earlyRetries
        summary.tokens = parts.judge.tokens.counts
        return summary
    }

    /// The answered messages, oldest first, as many as `recordsInMemoryMaximum` allows each loop.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedMessage] { try await loops.recorded() }

    /// Waits until as many messages have been answered since the start; answers of faults do not count.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: after how long the wait is a failure; only there to end a hang.
    /// - Throws: `SimulatorError` with the code `deadlinePassed`.
    public func waitForAnswers(_ count: Int, deadlineSeconds: Int = 300) async throws {
        try await loops.waitForAnswers(count, deadlineSeconds: deadlineSeconds)
    }

    /// Closes all connections, writes the last records and ends the threads.
    ///
    /// - Returns: the final numbers.
    @discardableResult
    public func stop() async throws -> FCMSummary {
        webServer?.stop()
        try await loops.close()
        let summary = try await summary()
        loops.join()
        return summary
    }
}

extension FCMSimulator: ControlledSimulator {
    /// Adds the fault that a line describes, changes what becomes of the addresses that it names, or revokes all access
    /// tokens (`{"revoke":true}`).
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is none of these.
    public func execute(_ line: [UInt8]) throws(SimulatorError) {
        let object = try? JSONObject.line(line)
        if object?["revoke"]?.bool == true { return revokeAccessTokens() }
        if object?["fault"] == nil, object?["answer"] != nil { return change(by: try TargetScript(parsing: line)) }
        add(try SimulatorFaults(parsingFCM: line))
    }
}

/// The counts of the requests and answers of a simulator of FCM.
public typealias FCMSummary = ServiceSummary<FCMCounts>

/// The counts that only FCM has.
public struct FCMCounts: FurtherCounts {
    /// Requests that asked only whether the message would be accepted, and it would.
    public var validated = 0
    /// Accepted messages that reach their device later, because too many collapsible ones were on their way.
    public var delayed = 0
    /// Messages that came back too soon after 5xx.
    public var earlyAfterServerError = 0
    /// Messages that came back too soon after 429.
    public var earlyAfterThrottling = 0
    /// The fetching of access tokens.
    public var tokens = TokenCounts()

    /// Begins without any answer.
    public init() {}

    /// Adds what another loop saw; the other counts are those of all loops together.
    public mutating func add(_ other: FCMCounts) {
        validated += other.validated
        delayed += other.delayed
    }

    /// The numbers as one line of JSON.
    public static func json(of summary: FCMSummary) -> String {
        let (tokens, serving) = (summary.tokens, summary.serving)
        return """
            {"answered":\(summary.answered),"accepted":\(summary.accepted),"validated":\(summary.validated),\
            "duplicates":\(summary.duplicates),"distinct_messages":\(summary.distinctMessages),\
            "distinct_messages_complete":\(summary.isMessageCountComplete),"delayed":\(summary.delayed),\
            "early_after_5xx":\(summary.earlyAfterServerError),"early_after_429":\(summary.earlyAfterThrottling),\
            "token_requests":\(tokens.requests),"tokens_issued":\(tokens.issued),"tokens_refused":\(tokens.refused),\
            "token_requests_at_once_maximum":\(tokens.atOnceMaximum),"token_late_refreshes":\(tokens.lateRefreshes),\
            "token_seconds_left_maximum":\(tokens.secondsLeftMaximum.map { String($0) } ?? "null"),\
            "silent":\(serving.silent),"lost_answers":\(serving.lostAnswers),"abandoned":\(serving.abandoned),\
            "connections":\(serving.connections),"connections_refused":\(serving.connectionsRefused),\
            "connections_failed":\(serving.connectionsFailed),"protocol_violations":\(serving.protocolViolations),\
            "faults":\(summary.faults),"concurrent_streams_maximum":\(serving.concurrentStreamsMaximum),\
            "records_lost":\(summary.recordsLost),"answers":\(summary.answersJSON)}
            """
    }
}
