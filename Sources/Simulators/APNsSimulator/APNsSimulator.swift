import Crypto
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

    private init(parts: APNsParts, loops: SimulatorLoops<APNsService>) {
        self.parts = parts
        self.loops = loops
    }

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, a key cannot be read, the record file cannot be written
    ///   or the address cannot be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: SimulatorConfiguration) async throws -> APNsSimulator {
        try configuration.validate()
        let parts = APNsParts(configuration: configuration, keys: try configuration.publicKeys())
        let traits = ServiceTraits(
            headerNames: HeaderNames(RequestField.allCases.map(\.name)),
            bodyBytesMaximum: RequestRules.bodyBytesKeptMaximum,
            unauthenticatedStreamsMaximum: configuration.maxUnauthenticatedStreams,
            goAwayDebugData: { reason in Array("{\"reason\":\"\(reason)\"}".utf8) })
        let loops = try await SimulatorLoops(configuration.serving, traits: traits, name: "apns-simulator") {
            APNsService(parts: parts, server: $0)
        }
        return APNsSimulator(parts: parts, loops: loops)
    }

    /// The numbers so far.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> SimulatorSummary {
        var summary = SimulatorSummary()
        for part in try await loops.map({ $0.summary() }) { summary.add(part) }
        summary.faults = loops.faults.faultCount
        (summary.distinctIdentifiers, summary.isIdentifierCountComplete) = parts.identifiers.count
        return summary
    }

    /// Adds faults while it runs.
    public func add(_ faults: SimulatorFaults) { loops.faults.add(faults) }

    /// Removes the faults; their effects on existing connections stay.
    public func removeFaults() { loops.faults.removeAll() }

    /// The answered requests, oldest first, as many as `recordsInMemoryMaximum` allows each loop.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedPush] {
        let records = try await loops.map { $0.ledger.records }
        return records.count == 1 ? records[0] : records.joined().sorted { $0.timeMilliseconds < $1.timeMilliseconds }
    }

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

    /// The numbers so far, as one line of JSON.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summaryJSON() async throws -> String { try await summary().json }
}
