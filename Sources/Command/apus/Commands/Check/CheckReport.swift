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
        guard !isJSON else { return output.line(report(path: path, values: values).json) }
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

    private func report(path: String?, values: LoadedConfiguration?) -> Report {
        [
            "ok": exitCode == .ok, "file": Report.OrNull(path), "problems": problems.map(Self.report),
            "connections": probes.map { name, outcome in
                ["name": name, "result": outcome.words.0, "message": outcome.words.1] as Report
            },
            "configuration": values.map { Report.Raw(Array($0.effectiveJSON.utf8)) },
        ]
    }

    private static func report(severity: String, problem: ConfigurationProblem) -> Report {
        [
            "severity": severity, "origin": problem.origin.description, "key": problem.key,
            "message": problem.message, "remedy": problem.remedy,
        ]
    }
}
