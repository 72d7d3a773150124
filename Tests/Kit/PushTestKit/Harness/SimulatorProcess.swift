import Glibc
import JSON

/// A running `apus simulate`, `apus simulate-fcm` or `apus simulate-webpush`.
public final class SimulatorProcess: Sendable {
    /// The identifier of the key that it expects.
    public static let keyID = "ABC123DEFG"
    /// The team that it expects.
    public static let teamID = "DEF123GHIJ"

    /// Where it listens on 127.0.0.1.
    public let port: UInt16
    private let controlPort: UInt16
    private let command: RunningCommand

    private init(port: UInt16, controlPort: UInt16, command: RunningCommand) {
        self.port = port
        self.controlPort = controlPort
        self.command = command
    }

    /// Starts it, and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: where it runs. It takes the key `key.p8` there, and makes it if there is none.
    ///   - anchor: the file that gets its certificate.
    ///   - arguments: further arguments, see `apus simulate --help`.
    /// - Returns: the simulator.
    /// - Throws: an error with its output if it does not start.
    public static func start(
        in folder: TemporaryFolder, anchor: String = "anchor.pem", _ arguments: [String]
    ) async throws -> SimulatorProcess {
        let isKeyThere = access("\(folder.path)/key.p8", R_OK) == 0
        return try await start(
            "simulate",
            [
                "--listen", "127.0.0.1:0", "--ca-out", anchor, isKeyThere ? "--key-file" : "--make-key", "key.p8",
                "--key-id", keyID, "--team-id", teamID,
            ] + arguments, in: folder)
    }

    /// Starts `apus simulate-fcm`, and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: where it runs. It takes the service account `account.json` there, and makes it if there is none.
    ///   - anchor: the file that gets its certificate.
    ///   - arguments: further arguments, see `apus simulate-fcm --help`.
    /// - Returns: the simulator, which gives out access tokens at `/token`.
    /// - Throws: an error with its output if it does not start.
    public static func startFCM(
        in folder: TemporaryFolder, anchor: String = "fcm.pem", _ arguments: [String]
    ) async throws -> SimulatorProcess {
        try await start(
            "simulate-fcm",
            ["--listen", "127.0.0.1:0", "--ca-out", anchor, "--make-account", "account.json"] + arguments, in: folder)
    }

    /// Starts `apus simulate-webpush`, and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: where it runs.
    ///   - anchor: the file that gets its certificate.
    ///   - arguments: further arguments, see `apus simulate-webpush --help`.
    /// - Returns: the simulator with the port of its first service, the plain one, at `localhost`.
    /// - Throws: an error with its output if it does not start.
    public static func startWebPush(
        in folder: TemporaryFolder, anchor: String = "webpush.pem", _ arguments: [String]
    ) async throws -> SimulatorProcess {
        try await start("simulate-webpush", ["--ca-out", anchor] + arguments, in: folder)
    }

    private static func start(
        _ name: String, _ arguments: [String], in folder: TemporaryFolder
    ) async throws -> SimulatorProcess {
        let command = try RunningCommand([name, "--json", "--control", "0"] + arguments, in: folder)
        try await command.wait(for: "\n", in: \.output)
        let line = command.output.split(separator: "\n").first ?? ""
        guard let port = PortNumber.after(#""port":"#, in: line),
            let controlPort = PortNumber.after(#""controlPort":"#, in: line)
        else { throw PrivateServerFailure("the simulator said: \(command.output)\(command.errors)") }
        return SimulatorProcess(port: port, controlPort: controlPort, command: command)
    }

    /// Gives it a line of its fault language, as `apus simulate --help` has it; `{"clear":true}` ends all faults.
    public func control(_ line: String) async throws {
        let answer = await PlainLine.ask(line, port: controlPort)
        guard !answer.contains("error"), !answer.isEmpty else {
            throw PrivateServerFailure("the simulator said to \(line): \(answer)")
        }
    }

    /// How many pushes it has accepted since its start.
    ///
    /// - Throws: an error with what it said if it does not say so.
    public func accepted() async throws -> Int {
        let answer = await PlainLine.ask(#"{"show":true}"#, port: controlPort)
        guard let count = try? JSONParser().parse(Array(answer.utf8))["accepted"]?.int64 else {
            throw PrivateServerFailure("the simulator does not say what it accepted: \(answer)")
        }
        return Int(count)
    }

    /// Ends it at once.
    public func kill() { command.signal(SIGKILL) }

    /// Sends it a signal.
    public func signal(_ number: Int32) { command.signal(number) }

    /// Ends it, after which its record is complete.
    @discardableResult
    public func stop() async -> CommandResult { await command.stop() }
}

/// Ports that programs print.
enum PortNumber {
    /// The number that follows the first occurrence of a text; nil if none does.
    static func after(_ marker: String, in text: Substring) -> UInt16? {
        text.split(separator: marker, maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
            .flatMap { UInt16($0.prefix { $0.isNumber }) }
    }
}
