import Dispatcher
import JSON
import WorkerConfiguration

/// The output of `apus check`: lines for people as they come, or one JSON object at the end.
struct CheckReport {
    private let isJSON: Bool
    private let output: StandardOutput
    private var problems: [(severity: String, problem: ConfigurationProblem)] = []
    private var probes: [(name: String, outcome: ConnectionProbe.Outcome)] = []

    /// How the command ends: by the first thing that failed.
    private(set) var exitCode = ExitCode.ok

    init(isJSON: Bool, output: StandardOutput) {
        self.isJSON = isJSON
        self.output = output
    }

    /// Adds the problems and warnings of the configuration.
    mutating func add(problems found: [ConfigurationProblem], warnings: [ConfigurationProblem]) {
        problems += found.map { ("error", $0) } + warnings.map { ("warning", $0) }
        if !found.isEmpty { exitCode = .configuration }
        guard !isJSON else { return }
        for (severity, problem) in problems { output.line("\(severity): \(problem)") }
    }

    /// Takes what became of a probe, and shows it at once, because the next may take its time.
    mutating func add(_ probe: ConnectionProbe, _ outcome: ConnectionProbe.Outcome) {
        probes.append((probe.name, outcome))
        if case .failed(_, let code) = outcome, exitCode == .ok { exitCode = code }
        guard !isJSON else { return }
        output.lines(probe.lines(outcome))
        output.flush()
    }

    /// Prints the rest.
    ///
    /// - Parameters:
    ///   - path: the file, if one was read or named.
    ///   - values: the values in force, if they are to be printed.
    func finish(path: String?, values: LoadedConfiguration?) {
        guard !isJSON else { return output.line(json(path: path, values: values)) }
        if let values { output.write(values.effectiveText) }
        let name = path ?? "the configuration"
        let errorCount = problems.filter { $0.severity == "error" }.count
        if errorCount > 0 {
            output.line("\(name): \(errorCount) \(errorCount == 1 ? "error" : "errors")")
        } else if exitCode != .ok {
            output.line("\(name): the configuration is valid, but a connection failed")
        } else {
            output.line("\(name): ok")
        }
    }

    private func json(path: String?, values: LoadedConfiguration?) -> [UInt8] {
        var writer = JSONWriter(capacityBytes: 4_096)
        writer.beginObject()
        writer.key("ok")
        writer.boolean(exitCode == .ok)
        writer.key("file")
        if let path { writer.string(path) } else { writer.null() }
        writer.key("problems")
        writer.beginArray()
        for (severity, problem) in problems { Self.write(problem, severity: severity, to: &writer) }
        writer.endArray()
        writer.key("connections")
        writer.beginArray()
        for (name, outcome) in probes {
            let (word, text) = outcome.words
            Self.write([("name", name), ("result", word), ("message", text)], to: &writer)
        }
        writer.endArray()
        if let values {
            writer.key("configuration")
            writer.raw(values.effectiveJSON.utf8)
        }
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ problem: ConfigurationProblem, severity: String, to writer: inout JSONWriter) {
        write(
            [
                ("severity", severity), ("origin", problem.origin.description), ("key", problem.key),
                ("message", problem.message), ("remedy", problem.remedy),
            ], to: &writer)
    }

    private static func write(_ fields: [(StaticString, String)], to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, text) in fields {
            writer.key(name)
            writer.string(text)
        }
        writer.endObject()
    }
}
