import Glibc

/// A running `apus run`, or another command of `apus` with an admin server, and what that server says.
public final class WorkerProcess: Sendable {
    /// The process.
    public let command: RunningCommand

    /// Starts a worker in a folder with its configuration.
    ///
    /// - Parameters:
    ///   - folder: where it runs.
    ///   - prefix: words before it on its command line, for example `/usr/bin/prlimit` and its options.
    ///   - arguments: the command of `apus`.
    /// - Throws: an error that says why it cannot be started.
    public init(in folder: TemporaryFolder, prefix: [String] = [], arguments: [String] = ["run"]) throws {
        let words = prefix + [CommandRunner.apusPath] + arguments
        command = try RunningCommand(program: words[0], Array(words.dropFirst()), in: folder)
    }

    // MARK: Its servers

    /// The port of its admin server, once it listens.
    private func adminPort() async throws -> UInt16 { try await port("admin.listening") }

    /// The port of the registry's API, once it listens.
    public func registryPort() async throws -> UInt16 { try await port("registry.listening") }

    /// The port of its admin server; nil as long as it does not listen.
    public var adminPortSoFar: UInt16? { portSoFar("admin.listening") }

    private func port(_ event: String) async throws -> UInt16 {
        try await command.wait(for: "\"\(event)\"")
        guard let port = portSoFar(event) else { throw PrivateServerFailure("no port: \(command.errors)") }
        return port
    }

    /// The port of a server, which the worker logs when it listens.
    private func portSoFar(_ event: String) -> UInt16? {
        let line = command.errors.split(separator: "\n").first { $0.contains("\"\(event)\"") }
        return line.flatMap { PortNumber.after("\"port\":", in: $0) }
    }

    /// Gets an answer of the admin server.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - fields: further lines of the head, each with its end.
    /// - Returns: the answer.
    /// - Throws: an error if the server does not listen.
    public func get(_ path: String, fields: String = "") async throws -> PlainHTTP.Answer {
        await PlainHTTP.requestInBackground("GET", path, port: try await adminPort(), fields: fields)
    }

    /// Posts JSON to the admin server.
    public func post(_ path: String, json: String) async throws -> PlainHTTP.Answer {
        await PlainHTTP.requestInBackground(
            "POST", path, port: try await adminPort(), body: json, fields: "Content-Type: application/json\r\n")
    }

    /// The value of a metric, summed over the series whose labels contain a text.
    public func metric(_ name: String, _ label: String = "") async throws -> Int {
        let series = try await get("/metrics").body.split(separator: "\n").filter { line in
            line.hasPrefix(name) && line.contains(label) && ["{", " "].contains(line.dropFirst(name.count).first)
        }
        return series.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    // MARK: Waiting

    /// Waits until `/readyz` answers with this status and mentions a text, and gives its body.
    @discardableResult
    public func readiness(_ status: Int, mentioning text: String = "") async throws -> String {
        let answer = try await eventually("readiness \(status) \(text)") {
            try await get("/readyz")
        } until: {
            $0.status == status && (text.isEmpty || $0.body.contains(text))
        }
        return answer.body
    }

    /// Waits until a metric has reached a value.
    public func wait(for name: String, _ label: String = "", toReach value: Int) async throws {
        try await eventually("\(name) \(label) to reach \(value)") {
            try await metric(name, label)
        } until: {
            $0 >= value
        }
    }

    // MARK: Its end

    /// Asks it to end in order, and waits until it has.
    ///
    /// - Parameter seconds: after this long it is killed.
    /// - Returns: its end, and all that it logged.
    @discardableResult
    public func drain(seconds: Double = 120) async -> CommandResult { await command.stop(seconds: seconds) }

    /// Ends it as a power failure does, and waits until it has.
    public func killHard() async {
        command.signal(SIGKILL)
        _ = await command.end()
    }
}
