import Glibc
import PushTestKit
import Testing

/// A running `apus run`, and what its admin server says.
final class WorkerProcess: Sendable {
    /// It ended before it served anything.
    struct Ended: Error {
        let errors: String
    }

    let command: RunningCommand

    init(in folder: TemporaryFolder) throws { command = try RunningCommand(["run"], in: folder) }

    /// The port of the admin server.
    private func adminPort() async throws -> UInt16 { try await port("admin.listening") }

    /// The port of the registry's API.
    func registryPort() async throws -> UInt16 { try await port("registry.listening") }

    /// The port of a server, which the worker logs when it listens.
    private func port(_ event: String) async throws -> UInt16 {
        while true {
            let hasEnded = command.hasEnded
            for line in command.errors.split(separator: "\n") where line.contains("\"\(event)\"") {
                let digits = line.split(separator: "\"port\":").last?.prefix { $0.isNumber } ?? ""
                if let port = UInt16(digits) { return port }
            }
            if hasEnded { throw Ended(errors: command.errors) }
            await Task.yield()
        }
    }

    /// What the admin server answers.
    func get(_ path: String) async throws -> PlainHTTP.Answer {
        PlainHTTP.request("GET", path, port: try await adminPort())
    }

    /// The value of a metric, summed over the series whose labels contain a text.
    func metric(_ name: String, _ label: String = "") async throws -> Int {
        let series = try await get("/metrics").body.split(separator: "\n").filter { line in
            line.hasPrefix(name) && line.contains(label) && ["{", " "].contains(line.dropFirst(name.count).first)
        }
        return series.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    /// Waits until `/readyz` answers with this status, and gives its body.
    func readiness(_ status: Int) async throws -> String {
        while true {
            let answer = try await get("/readyz")
            if answer.status == status { return answer.body }
            await Task.yield()
        }
    }

    /// Waits until a metric has reached a value.
    func wait(for name: String, _ label: String = "", toReach value: Int) async throws {
        while try await metric(name, label) < value { await Task.yield() }
    }

    /// Asks it to end in order, and waits until it has.
    func drain() async -> CommandResult {
        command.signal(SIGTERM)
        return await command.end()
    }

    /// Ends it as an operator does, and expects that it has left nothing unfinished.
    func drainCleanly(sourceLocation: SourceLocation = #_sourceLocation) async {
        let end = await drain()
        #expect(end.exitCode == 0, "\(end.errors.suffix(4_000))", sourceLocation: sourceLocation)
    }

    /// Ends it as a power failure does, and waits until it has.
    func killHard() async {
        command.signal(SIGKILL)
        _ = await command.end()
    }
}
