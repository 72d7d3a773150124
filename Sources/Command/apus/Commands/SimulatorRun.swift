import APNsSimulator
import EventLoop
import FCMSimulator
import Glibc
import PushServiceSimulator

/// A simulator that a command runs until it is told to stop.
protocol ServedSimulator: ControlledSimulator {
    /// The final numbers.
    associatedtype Summary: Sendable

    /// The port that it listens on.
    var port: UInt16 { get }
    /// The certificate that senders have to trust, in PEM.
    var trustAnchorPEM: String { get }

    /// Closes all connections and ends the threads.
    func stop() async throws -> Summary
}

extension APNsSimulator: ServedSimulator {}
extension FCMSimulator: ServedSimulator {}

/// The run of a simulator by a command: from its start to SIGTERM or SIGINT.
enum SimulatorRun {
    /// Runs a simulator, and says where it is.
    ///
    /// - Parameters:
    ///   - host: the address that it listens on.
    ///   - invocation: with the options `--ca-out` and `--control`.
    ///   - whenReady: writes files that name the port.
    ///   - start: starts it.
    /// - Returns: the final numbers.
    /// - Throws: `CommandFailure` if it cannot be started, or a file cannot be written.
    static func run<Simulator: ServedSimulator>(
        host: String, _ invocation: CommandInvocation,
        whenReady: (_ address: String) throws -> Void = { _ in },
        start: () async throws -> Simulator
    ) async throws -> Simulator.Summary {
        let signalLoop = try EventLoop(name: "signals")
        defer { signalLoop.stopAndJoin() }
        let (signals, announcement) = AsyncStream.makeStream(of: Int32.self)
        let watcher = try await signalLoop.run {
            LoopBound(
                try SignalWatcher(signals: [SIGTERM, SIGINT], loop: signalLoop) { announcement.yield($0) },
                to: signalLoop)
        }
        let simulator = try await rephrasing(start)
        let address = host.contains(":") ? "[\(host)]:\(simulator.port)" : "\(host):\(simulator.port)"
        do {
            if let path = invocation.string(SimulateOptions.trustAnchorFile) {
                try SimulateFiles.write(simulator.trustAnchorPEM, to: path, mode: 0o644)
            }
            try whenReady(address)
        } catch {
            _ = try await simulator.stop()
            throw error
        }
        let control = try await startControl(simulator, invocation, loop: signalLoop)
        announce(address, simulator.port, control: try await port(of: control), to: invocation)
        _ = await signals.first { _ in true }
        let summary = try await simulator.stop()
        try await signalLoop.run {
            watcher.value.stop()
            control?.value.stop()
        }
        return summary
    }

    /// Writes the totals as JSON where that is asked for.
    ///
    /// - Returns: whether standard output has them.
    static func wrote(_ json: String, for invocation: CommandInvocation) throws -> Bool {
        if let path = invocation.string(SimulateOptions.summary) {
            try SimulateFiles.write(json + "\n", to: path, mode: 0o644)
        }
        if invocation.isJSON { invocation.output.line(json) }
        return invocation.isJSON
    }

    /// The exit code of a run, after a word about records that are missing.
    static func exitCode(recordsLost: Int) -> ExitCode {
        guard recordsLost > 0 else { return .ok }
        StandardError.line("\(recordsLost) records could not be written to disk")
        return .inputOutput
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
        _ address: String, _ port: UInt16, control: UInt16?, to invocation: CommandInvocation
    ) {
        invocation.output.lines(
            invocation.isJSON
                ? #"{"endpoint":"https://\#(address)","address":"\#(address)","port":\#(port)"#
                    + (control.map { #","controlPort":\#($0)"# } ?? "") + "}"
                : "ready at https://\(address)" + (control.map { "\ncontrolled at 127.0.0.1:\($0)" } ?? ""))
        invocation.output.flush()
    }
}
