import EventLoop
import Glibc
import PushServiceSimulator

/// A simulator that a command runs until it is told to stop.
protocol ServedSimulator: ControlledSimulator {
    /// The certificate that senders have to trust, in PEM.
    var trustAnchorPEM: String { get }
    /// The addresses that it listens on, `https://HOST:PORT`, each with a name; one alone needs none.
    func addresses(host: String) throws -> [(name: String, address: String)]
    /// Closes all connections and ends the threads.
    func stop() async throws -> ServiceSummary<Further>
}

/// A simulator that listens on one port.
protocol OnePortSimulator: ServedSimulator {
    /// The port.
    var port: UInt16 { get }
}

extension OnePortSimulator {
    func addresses(host: String) -> [(name: String, address: String)] { [("", address(host: host))] }

    /// The address.
    func address(host: String) -> String { "https://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}

/// The totals of a run for people.
struct SimulatorTotals {
    /// The lines before those of the answers.
    var first: String
    /// The lines after them.
    var last: [String] = []
    /// Whether an answer has a line.
    var shows: (AnswerCount) -> Bool = { $0.status != 200 }
}

/// The run of a simulator by a command: from its start to SIGTERM or SIGINT.
enum SimulatorRun {
    /// Runs a simulator, says where it is, and at the end what it did.
    ///
    /// - Parameters:
    ///   - invocation: with the options `--ca-out`, `--control` and `--summary`.
    ///   - host: the address that it listens on.
    ///   - whenReady: writes files that name the addresses.
    ///   - start: starts it.
    ///   - totals: words the final numbers.
    /// - Returns: the exit code.
    /// - Throws: `CommandFailure` if it cannot be started, or a file cannot be written.
    static func run<Simulator: ServedSimulator>(
        _ invocation: CommandInvocation, host: String, whenReady: (Simulator) throws -> Void = { _ in },
        start: () async throws -> Simulator, totals: (ServiceSummary<Simulator.Further>) -> SimulatorTotals
    ) async throws -> ExitCode {
        let signalLoop = try EventLoop(name: "signals")
        defer { signalLoop.stopAndJoin() }
        let (signals, announcement) = AsyncStream.makeStream(of: Int32.self)
        let watcher = try await signalLoop.run {
            LoopBound(
                try SignalWatcher(signals: [SIGTERM, SIGINT], loop: signalLoop) { announcement.yield($0) },
                to: signalLoop)
        }
        let simulator = try await rephrasing(start)
        var addresses: [(name: String, address: String)] = []
        do {
            if let path = invocation.string(SimulateOptions.trustAnchorFile) {
                try SimulateFiles.write(simulator.trustAnchorPEM, to: path, mode: 0o644)
            }
            try whenReady(simulator)
            addresses = try simulator.addresses(host: host)
        } catch {
            _ = try await simulator.stop()
            throw error
        }
        let control = try await startControl(simulator, invocation, loop: signalLoop)
        announce(addresses, control: try await port(of: control), to: invocation)
        _ = await signals.first { _ in true }
        let summary = try await simulator.stop()
        try await signalLoop.run {
            watcher.value.stop()
            control?.value.stop()
        }
        try report(summary.json, summary.answers, totals(summary), to: invocation)
        guard summary.recordsLost > 0 else { return .ok }
        StandardError.line("\(summary.recordsLost) records could not be written to disk")
        return .inputOutput
    }

    /// Writes the totals, as JSON where that is asked for.
    private static func report(
        _ json: String, _ answers: [AnswerCount], _ totals: SimulatorTotals, to invocation: CommandInvocation
    ) throws {
        if let path = invocation.string(SimulateOptions.summary) {
            try SimulateFiles.write(json + "\n", to: path, mode: 0o644)
        }
        guard !invocation.isJSON else { return invocation.output.line(json) }
        invocation.output.lines(totals.first)
        for answer in answers where totals.shows(answer) {
            invocation.output.line("\(answer.status)          \(answer.count) \(answer.reason ?? "")")
        }
        for line in totals.last { invocation.output.line(line) }
    }

    private static func rephrasing<Simulator>(
        _ start: () async throws -> Simulator
    ) async throws -> Simulator {
        do {
            return try await start()
        } catch let error as SimulatorError {
            let code: ExitCode =
                switch error.code {
                case .listenFailed, .deadlinePassed: .unavailable
                case .fileFailed: .cannotCreate
                case .keyInvalid, .configurationInvalid: .configuration
                case .scriptInvalid: .data
                }
            throw CommandFailure(code, error.message)
        }
    }

    private static func startControl(
        _ simulator: some ServedSimulator, _ invocation: CommandInvocation, loop: EventLoop
    ) async throws -> LoopBound<FaultControl>? {
        guard let port = try invocation.integer(SimulateOptions.control, in: 0...65_535) else { return nil }
        do {
            return try await loop.run {
                LoopBound(try FaultControl(simulator, port: UInt16(port), loop: loop), to: loop)
            }
        } catch let error as SimulatorError {
            _ = try await simulator.stop()
            throw CommandFailure(.unavailable, error.message)
        }
    }

    private static func port(of control: LoopBound<FaultControl>?) async throws -> UInt16? {
        guard let control else { return nil }
        return try await control.loop.run { control.value.port }
    }

    private static func announce(
        _ origins: [(name: String, address: String)], control: UInt16?, to invocation: CommandInvocation
    ) {
        if invocation.isJSON {
            let members = origins.map { name, address in
                name.isEmpty ? json(of: address) : "\"\(name)\":{\(json(of: address))}"
            }
            invocation.output.line(
                "{" + (members + (control.map { ["\"controlPort\":\($0)"] } ?? [])).joined(separator: ",") + "}")
        } else {
            for (name, address) in origins {
                invocation.output.line("ready at \(address)" + (name.isEmpty ? "" : " (\(name))"))
            }
            if let control { invocation.output.line("controlled at 127.0.0.1:\(control)") }
        }
        invocation.output.flush()
    }

    private static func json(of address: String) -> String {
        let hostAndPort = address.dropFirst("https://".count)
        let port = hostAndPort[
            (hostAndPort.lastIndex(of: ":").map { hostAndPort.index(after: $0) } ?? hostAndPort.endIndex)...]
        return #""endpoint":"\#(address)","address":"\#(hostAndPort)","port":\#(port)"#
    }
}
