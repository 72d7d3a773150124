import Crypto
import EventLoop

/// A server that treats its clients as APNs does, on this machine: HTTP/2 over TLS, Apple's rules, Apple's answers.
///
/// It is as strict as the documentation allows, so that a client that passes here also passes at APNs. It records
/// accepted pushes, so that a sender's own account can be checked against an independent one. Its certificate is made
/// at start; a client has to trust `trustAnchorPEM`.
public final class APNsSimulator: Sendable {
    /// The port that it listens on.
    public let port: UInt16
    /// The certificate that clients have to trust, in PEM.
    public let trustAnchorPEM: String

    private let parts: SimulatorParts
    private let loops: [EventLoop]
    private let servers: [LoopBound<SimulatorServer>]

    private init(
        port: UInt16, trustAnchorPEM: String, parts: SimulatorParts, loops: [EventLoop],
        servers: [LoopBound<SimulatorServer>]
    ) {
        self.port = port
        self.trustAnchorPEM = trustAnchorPEM
        self.parts = parts
        self.loops = loops
        self.servers = servers
    }

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, a key cannot be read, the record file cannot be written
    ///   or the address cannot be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: SimulatorConfiguration) async throws -> APNsSimulator {
        try configuration.validate()
        let now = configuration.wallClockMilliseconds() / 1_000
        let identity =
            try configuration.identity
            ?? SimulatorConfiguration.makeIdentity(
                hostNames: configuration.hostNames, nowSeconds: now)
        let foreign = try ServerIdentity.selfSigned(
            names: ["somebody-else.example"], notBeforeSeconds: now - 86_400,
            notAfterSeconds: now + SimulatorConfiguration.identitySeconds)
        let parts = SimulatorParts(
            configuration: configuration, tls: try TLSContext.server(identity, applicationProtocols: ["h2"]),
            keys: try configuration.publicKeys(),
            recordFile: try configuration.recordFile.map { path in try RecordFile(path: path) },
            identifiers: AcceptedIdentifiers(), progress: SimulatorProgress(),
            faults: FaultBook(rules: configuration.faults.rules, seed: configuration.faultSeed),
            foreignTLS: try TLSContext.server(foreign, applicationProtocols: ["h2"]))
        let loops = try (0..<configuration.loopCount).map { index in try EventLoop(name: "apns-simulator-\(index)") }
        var servers: [LoopBound<SimulatorServer>] = []
        for (index, loop) in loops.enumerated() {
            servers.append(
                try await loop.run { LoopBound(SimulatorServer(parts: parts, loop: loop, loopIndex: index), to: loop) })
        }
        do {
            let port = try await listen(servers)
            return APNsSimulator(
                port: port, trustAnchorPEM: identity.certificateChainPEM, parts: parts, loops: loops, servers: servers)
        } catch {
            for loop in loops { loop.stopAndJoin() }
            throw SimulatorError(
                .listenFailed, "cannot listen on \(configuration.host):\(configuration.port): \(error)")
        }
    }

    /// Lets the first loop accept, and deals the connections out to all.
    private static func listen(_ servers: [LoopBound<SimulatorServer>]) async throws -> UInt16 {
        let first = servers[0]
        return try await first.loop.run {
            var next = 0
            return try first.value.listen { socket in
                let server = servers[next % servers.count]
                next += 1
                if server.loop === first.loop {
                    server.value.serve(socket)
                } else {
                    server.loop.submit { server.value.serve(socket) }
                }
            }
        }
    }

    /// The numbers so far.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> SimulatorSummary {
        var summary = SimulatorSummary()
        for server in servers {
            summary.add(try await server.loop.run { server.value.ledger.summary(catalog: server.value.catalog) })
        }
        summary.faults = parts.faults.faultCount
        (summary.distinctIdentifiers, summary.isIdentifierCountComplete) = parts.identifiers.count
        return summary
    }

    /// Adds faults while it runs.
    public func add(_ faults: SimulatorFaults) { for rule in faults.rules { parts.faults.add(rule) } }

    /// Removes the faults; their effects on existing connections stay.
    public func removeFaults() { parts.faults.removeAll() }

    /// The answered requests, oldest first, as many as `recordsInMemoryMaximum` allows each loop.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedPush] {
        var records: [RecordedPush] = []
        for server in servers { records += try await server.loop.run { server.value.ledger.records } }
        return servers.count == 1 ? records : records.sorted { $0.timeMilliseconds < $1.timeMilliseconds }
    }

    /// Waits until as many requests have been answered since the start.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: after how long the wait is a failure; only there to end a hang.
    /// - Throws: `SimulatorError` with the code `deadlinePassed`.
    public func waitForAnswers(_ count: Int, deadlineSeconds: Int = 300) async throws {
        let loop = loops[0]
        let reached = await parts.progress.wait(forCount: count) { giveUp in
            loop.submit {
                loop.schedule(afterNanoseconds: UInt64(deadlineSeconds) * 1_000_000_000, handler: giveUp)
            }
        }
        guard !reached else { return }
        throw SimulatorError(
            .deadlinePassed, "fewer than \(count) requests were answered within \(deadlineSeconds) seconds")
    }

    /// Closes all connections, writes the last records and ends the threads.
    ///
    /// - Returns: the final numbers.
    @discardableResult
    public func stop() async throws -> SimulatorSummary {
        for server in servers { try await server.loop.run { server.value.stop() } }
        let summary = try await summary()
        for loop in loops { loop.stopAndJoin() }
        return summary
    }
}
