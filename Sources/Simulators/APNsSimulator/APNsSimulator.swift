public import PushServiceSimulator

/// A server that treats its clients as APNs does, on this machine: HTTP/2 over TLS, Apple's rules, Apple's answers.
///
/// It is as strict as the documentation allows, so that a client that passes here also passes at APNs. It records
/// accepted pushes, so that a sender's own account can be checked against an independent one. Its certificate is made
/// at start; a client has to trust `trustAnchorPEM`.
public final class APNsSimulator: Sendable {
    /// The port that it listens on.
    public var port: UInt16 { loops.port }
    /// The certificate that clients have to trust, in PEM.
    public var trustAnchorPEM: String { loops.trustAnchorPEM }

    private let parts: APNsParts
    private let loops: SimulatorLoops<APNsService>

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, a key cannot be read, the record file cannot be written
    ///   or the address cannot be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: SimulatorConfiguration) async throws -> APNsSimulator {
        try await APNsSimulator(configuration)
    }

    private init(_ configuration: SimulatorConfiguration) async throws {
        try configuration.validate()
        let parts = APNsParts(configuration: configuration, keys: try configuration.publicKeys())
        self.parts = parts
        let traits = ServiceTraits(
            headerNames: HeaderNames(RequestField.names),
            bodyBytesMaximum: RequestRules.bodyBytesKeptMaximum,
            unauthenticatedStreamsMaximum: configuration.maxUnauthenticatedStreams,
            goAwayDebugData: { reason in Array("{\"reason\":\"\(reason)\"}".utf8) })
        loops = try await SimulatorLoops(configuration.serving, traits: traits, name: "apns-simulator") {
            APNsService(parts: parts, server: $0)
        }
    }

    /// The numbers so far.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> SimulatorSummary {
        var summary = try await loops.summary()
        (summary.distinctMessages, summary.isMessageCountComplete) = parts.identifiers.count
        return summary
    }

    /// Adds faults while it runs.
    public func add(_ faults: SimulatorFaults) { loops.faults.add(faults) }

    /// Removes the faults; their effects on existing connections stay.
    public func removeFaults() { loops.faults.removeAll() }

    /// The answered requests, oldest first, as many as `recordsInMemoryMaximum` allows each loop.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedPush] { try await loops.recorded() }

    /// Waits until as many requests have been answered since the start.
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
    public func stop() async throws -> SimulatorSummary {
        try await loops.close()
        let summary = try await summary()
        loops.join()
        return summary
    }
}

extension APNsSimulator: ControlledSimulator {
    /// Adds the fault that a line describes.
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it describes none.
    public func execute(_ line: [UInt8]) throws(SimulatorError) { add(try SimulatorFaults(parsing: line)) }
}

/// The counts of the simulator's requests and answers; `distinctMessages` counts each `apns-id` of accepted pushes.
public typealias SimulatorSummary = ServiceSummary<APNsCounts>

/// The counts that only APNs has: none.
public struct APNsCounts: FurtherCounts {
    /// Begins with none.
    public init() {}

    /// Adds nothing.
    public mutating func add(_ other: APNsCounts) {}

    /// The numbers as one line of JSON.
    public static func json(of summary: SimulatorSummary) -> String {
        """
        {"answered":\(summary.answered),"accepted":\(summary.accepted),"duplicates":\(summary.duplicates),\
        "distinct_apns_ids":\(summary.distinctMessages),\
        "distinct_apns_ids_complete":\(summary.isMessageCountComplete),\
        "silent":\(summary.silent),"abandoned":\(summary.abandoned),"connections":\(summary.connections),\
        "connections_refused":\(summary.connectionsRefused),"connections_failed":\(summary.connectionsFailed),\
        "protocol_violations":\(summary.protocolViolations),"faults":\(summary.faults),\
        "concurrent_streams_maximum":\(summary.concurrentStreamsMaximum),\
        "unauthenticated_streams_maximum":\(summary.unauthenticatedStreamsMaximum),\
        "records_lost":\(summary.recordsLost),"answers":\(summary.answersJSON)}
        """
    }
}
