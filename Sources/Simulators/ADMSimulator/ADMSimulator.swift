import Crypto
import HTTPServer
import JSON
public import PushServiceSimulator

/// A server that treats its clients as Amazon Device Messaging and Amazon's token endpoint do, on this machine.
///
/// One address serves `POST /messaging/registrations/{registrationID}/messages` and `POST /auth/O2/token` by HTTP/1.1
/// over TLS. It is as strict as Amazon's pages allow, so that a sender that passes here also passes at Amazon. Its
/// certificate is made at start; a sender has to trust `trustAnchorPEM`.
public final class ADMSimulator: Sendable {
    /// The certificate that senders have to trust, in PEM.
    public let trustAnchorPEM: String

    let handler: ADMHandler
    private let server: HTTPServer

    /// The port that it listens on.
    public var port: UInt16 { server.port }

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, the record file cannot be written or the address cannot
    ///   be listened on; `CryptoError` if the system has no randomness.
    public static func start(_ configuration: ADMSimulatorConfiguration) throws -> ADMSimulator {
        try ADMSimulator(configuration)
    }

    private init(_ configuration: ADMSimulatorConfiguration) throws {
        try configuration.validate()
        let identity = try configuration.serving.servingIdentity()
        trustAnchorPEM = identity.certificateChainPEM
        var serving = HTTPServerConfiguration(
            name: "adm-simulator", settingName: "port", host: configuration.host, port: configuration.port,
            identity: identity)
        serving.connectionsMaximum = configuration.connectionsMaximum
        serving.idleSecondsMaximum = 60
        handler = ADMHandler(
            configuration,
            recordFile: try configuration.recordFile.map { (path) throws(SimulatorError) in
                try RecordFile(path: path, appends: false)
            })
        do throws(HTTPServerError) {
            server = try HTTPServer(configuration: serving, handler: handler)
        } catch {
            throw SimulatorError(.listenFailed, "cannot listen: \(error)")
        }
    }

    // MARK: Changes

    /// Puts a whole script in the place of the present one; all registration IDs begin with their first steps again.
    public func replaceScript(by script: RegistrationScript) { handler.script.replace(by: script) }

    /// Changes what becomes of the registration IDs that a script names; all begin with their first steps again.
    public func change(by script: RegistrationScript) { handler.script.change(by: script) }

    /// Lets all access tokens that were given out expire at once.
    public func revokeAccessTokens() { handler.tokens.revokeAll() }

    /// Answers the next requests for an access token in another way, one after the other.
    public func add(_ faults: ADMTokenFaults) { handler.endpoint.add(faults) }

    /// Answers all requests for an access token in the right way again.
    public func removeFaults() { handler.endpoint.removeFaults() }

    // MARK: Numbers

    /// The numbers so far.
    public func summary() -> ADMSummary { handler.summary() }

    /// The answered messages, oldest first, as many as `recordsInMemoryMaximum` allows.
    public func recorded() -> [RecordedADMMessage] { handler.records }

    /// Closes all connections and ends the thread.
    ///
    /// - Returns: the final numbers.
    @discardableResult
    public func stop() -> ADMSummary {
        handler.withheld.release()
        server.stop()
        return summary()
    }
}

extension ADMSimulator: ControlledSimulator {
    /// Changes what becomes of the registration IDs that a line names, adds a fault of access tokens, or revokes all
    /// access tokens (`{"revoke":true}`).
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is none of these.
    public func execute(_ line: [UInt8]) throws(SimulatorError) {
        let object = try? JSONObject.line(line)
        if object?["revoke"]?.bool == true { return revokeAccessTokens() }
        if object?["registration"] != nil { return change(by: try RegistrationScript(parsing: line)) }
        add(try ADMTokenFaults(parsing: line))
    }
}

/// The numbers of a simulator of ADM.
public typealias ADMSummary = ServiceSummary<ADMCounts>

/// The numbers that only ADM has.
public struct ADMCounts: FurtherCounts {
    /// Accepted messages that were answered with another registration ID.
    public var replaced = 0
    /// The fetching of access tokens.
    public var tokens = TokenCounts()

    /// Begins with none.
    public init() {}

    /// Adds what another loop counted; the fetching of tokens is counted once.
    public mutating func add(_ other: ADMCounts) { replaced += other.replaced }

    /// The numbers as one line of JSON.
    public static func json(of summary: ADMSummary) -> String {
        """
        {"answered":\(summary.answered),"accepted":\(summary.accepted),"duplicates":\(summary.duplicates),\
        "distinct_messages":\(summary.distinctMessages),"replaced":\(summary.replaced),"silent":\(summary.silent),\
        "lost_answers":\(summary.lostAnswers),"token_requests":\(summary.tokens.requests),\
        "tokens_issued":\(summary.tokens.issued),"tokens_refused":\(summary.tokens.refused),\
        "faults":\(summary.tokens.faults),"records_lost":\(summary.recordsLost),\
        "distinct_messages_complete":\(summary.isMessageCountComplete),"answers":\(summary.answersJSON)}
        """
    }
}
