import Glibc
import PushTestKit
import Testing

/// A running `apus run`, and what its admin server says.
final class WorkerProcess: Sendable {
    let command: RunningCommand

    init(in folder: TemporaryFolder) throws { command = try RunningCommand(["run"], in: folder) }

    /// The port of the admin server.
    private func adminPort() async throws -> UInt16 { try await port("admin.listening") }

    /// The port of the registry's API.
    func registryPort() async throws -> UInt16 { try await port("registry.listening") }

    /// The port of a server, which the worker logs when it listens.
    private func port(_ event: String) async throws -> UInt16 {
        try await command.wait(for: "\"\(event)\"")
        let line = command.errors.split(separator: "\n").first { $0.contains("\"\(event)\"") }
        let digits = line?.split(separator: "\"port\":").last?.prefix { $0.isNumber } ?? ""
        return try #require(UInt16(digits), "\(line ?? "")")
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

    /// Waits until `/readyz` answers with this status and mentions a text, and gives its body.
    func readiness(_ status: Int, mentioning text: String = "") async throws -> String {
        let answer = try await eventually("readiness \(status) \(text)") {
            try await get("/readyz")
        } until: {
            $0.status == status && (text.isEmpty || $0.body.contains(text))
        }
        return answer.body
    }

    /// Waits until a metric has reached a value.
    func wait(for name: String, _ label: String = "", toReach value: Int) async throws {
        try await eventually("\(name) \(label) to reach \(value)") {
            try await metric(name, label)
        } until: {
            $0 >= value
        }
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
