import Crypto
import HTTPServer
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

    private init(parts: FCMParts, loops: SimulatorLoops<FCMService>, webServer: HTTPServer?) {
        self.parts = parts
        self.loops = loops
        self.webServer = webServer
    }

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, a key cannot be read, the record file cannot be written
    ///   or an address cannot be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: FCMSimulatorConfiguration) async throws -> FCMSimulator {
        try configuration.validate()
        var configuration = configuration
        let now = configuration.serving.wallClockMilliseconds() / 1_000
        let identity =
            try configuration.serving.identity
            ?? ServingConfiguration.makeIdentity(hostNames: configuration.serving.hostNames, nowSeconds: now)
        configuration.serving.identity = identity
        let parts = try parts(configuration)
        let traits = ServiceTraits(
            headerNames: HeaderNames(FCMRequestField.allCases.map(\.name)), bodyBytesMaximum: 1 << 16,
            goAwayDebugData: { Array($0.utf8) })
        let loops = try await SimulatorLoops(configuration.serving, traits: traits, name: "fcm-simulator") {
            FCMService(parts: parts, server: $0)
        }
        do {
            let webServer = try configuration.http1Port.map { port in
                try HTTPServer(
                    configuration: HTTPServerConfiguration(
                        name: "fcm-simulator", settingName: "http1Port", host: configuration.serving.host, port: port,
                        identity: identity), handler: FCMWebHandler(loops))
            }
            return FCMSimulator(parts: parts, loops: loops, webServer: webServer)
        } catch {
            try await loops.close()
            loops.join()
            throw SimulatorError(.listenFailed, "cannot listen for HTTP/1.1: \(error)")
        }
    }

    private static func parts(_ configuration: FCMSimulatorConfiguration) throws(SimulatorError) -> FCMParts {
        let accounts = try configuration.endpointAccounts()
        let judge = MessageJudge(
            project: FCMProject(
                id: configuration.projectID, number: configuration.projectNumber,
                messagesPerMinute: configuration.quotas.projectPerMinute ?? 600_000), accounts: accounts,
            script: configuration.script, quotas: configuration.quotas,
            quotaRetryAfterSeconds: configuration.quotaRetryAfterSeconds)
        return FCMParts(
            judge: judge,
            endpoint: TokenEndpoint(
                accounts: accounts, tokens: judge.tokens, lifeSeconds: configuration.accessTokenSeconds,
                isTrusting: configuration.serving.isTrusting))
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
        var summary = FCMSummary()
        for part in try await loops.map({ $0.log.summary($0.server.servingCounts) }) { summary.add(part) }
        summary.faults = loops.faults.faultCount
        (summary.distinctMessages, summary.isMessageCountComplete) = parts.identifiers.count
        (summary.earlyAfterServerError, summary.earlyAfterThrottling) = parts.judge.earlyRetries
        summary.tokens = parts.judge.tokens.counts
        return summary
    }

    /// The answered messages, oldest first, as many as `recordsInMemoryMaximum` allows each loop.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedMessage] {
        let records = try await loops.map { $0.log.records }
        return records.count == 1 ? records[0] : records.joined().sorted { $0.timeMilliseconds < $1.timeMilliseconds }
    }

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
        let node = JSONNode.parse(line)
        if node?["revoke"] == .bool(true) { return revokeAccessTokens() }
        if node?["fault"] == nil, node?["answer"] != nil { return change(by: try TargetScript(parsing: line)) }
        add(try SimulatorFaults(parsingFCM: line))
    }

    /// The numbers so far, as one line of JSON.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summaryJSON() async throws -> String { try await summary().json }
}
