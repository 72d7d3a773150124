import Glibc
import PushTestKit

/// A running `apus simulate`, and its record.
final class SimulatorProcess: Sendable {
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    /// Where it listens.
    let port: UInt16
    /// Where it takes faults while it runs.
    let controlPort: UInt16
    private let command: RunningCommand

    private init(port: UInt16, controlPort: UInt16, command: RunningCommand) {
        self.port = port
        self.controlPort = controlPort
        self.command = command
    }

    /// Starts it in a folder, where it leaves `key.p8`, `anchor.pem` and `record.ndjson`.
    static func start(in folder: TemporaryFolder, script: String, faults: String, seed: UInt64) async throws
        -> SimulatorProcess
    {
        try folder.write("script.ndjson", script)
        try folder.write("faults.ndjson", faults)
        let command = try RunningCommand(
            [
                "simulate", "--json", "--make-key", "key.p8", "--key-id", keyID, "--team-id", teamID, "--topic",
                Population.bundleID, "--ca-out", "anchor.pem", "--record", "record.ndjson", "--script",
                "script.ndjson", "--faults", "faults.ndjson", "--control", "0", "--latency", "20-120", "--seed",
                "\(seed % 1_000_000)",
            ], in: folder)
        try await command.wait(for: "\n", in: \.output)
        guard let port = number(after: #""port":"#, in: command.output),
            let controlPort = number(after: #""controlPort":"#, in: command.output)
        else { throw StageFailure("the simulator said: \(command.output)") }
        return SimulatorProcess(port: port, controlPort: controlPort, command: command)
    }

    private static func number(after marker: String, in text: String) -> UInt16? {
        text.split(separator: marker).last.flatMap { UInt16($0.prefix { $0.isNumber }) }
    }

    /// Gives it a line of its fault language, as `apus simulate --help` has it; `{"clear":true}` ends all faults.
    func control(_ line: String) async throws {
        let answer = await PlainLine.ask(line, port: controlPort)
        guard !answer.contains("error"), !answer.isEmpty else {
            throw StageFailure("the simulator said to \(line): \(answer)")
        }
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { command.signal(number) }

    /// Ends it, after which its record is complete.
    func stop() async -> CommandResult {
        command.signal(SIGTERM)
        return await command.end()
    }
}
