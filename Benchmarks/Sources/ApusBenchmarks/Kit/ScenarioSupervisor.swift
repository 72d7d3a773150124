import Foundation
import PushTestKit

/// Runs each scenario in a process of its own, and ends one that takes more time or memory than it may.
///
/// Everything that a scenario started ends with it: programs by the signal that Linux sends when their parent dies,
/// private servers because their supervisors see the end of a pipe. Programs that remain after a while are killed.
struct ScenarioSupervisor {
    private static let lookSeconds = 0.1
    /// How long those that a scenario has left may take to end by themselves.
    static let endSeconds = 10.0

    let options: BenchmarkOptions
    let arguments: [String]
    /// The commit that is measured.
    let commit: String

    /// Runs all that is asked for.
    ///
    /// - Returns: the figures, and what failed.
    func run() async -> (results: [BenchmarkResult], failures: [String]) {
        var results: [BenchmarkResult] = []
        var failures: [String] = []
        for scenario in options.scenarios {
            let start = ContinuousClock.now
            do {
                results += try await run(scenario)
            } catch {
                Report.show("\(scenario.rawValue): \(error)")
                failures.append(scenario.rawValue)
            }
            Report.show("\(scenario.rawValue): \(Int(start.duration(to: .now).seconds)) s")
        }
        return (results, failures)
    }

    private func run(_ scenario: BenchmarkScenario) async throws -> [BenchmarkResult] {
        let folder = NSTemporaryDirectory() + "apus-bench-results-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = "\(folder)/\(scenario.rawValue).json"
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = try RunningCommand(
            program: program, arguments + ["--scenario-process", scenario.rawValue, "--results", file],
            environment: scenario.environment, workingFolder: FileManager.default.currentDirectoryPath)
        defer { Workbench.removeFolders(of: process.identifier) }
        let exitCode = try await Self.supervise(process, options.limits(of: scenario))
        guard exitCode == 0 else {
            throw BenchmarkFailure(description: "ended with \(exitCode): \(process.errors.suffix(4_000))")
        }
        let results = try JSONDecoder().decode(
            [BenchmarkResult].self, from: Data(contentsOf: URL(fileURLWithPath: file)))
        guard !results.isEmpty else { throw BenchmarkFailure(description: "reported no figure") }
        // All figures of a run have the commit that it began with.
        return results.map { result in
            var result = result
            (result.machine, result.commit, result.date) = (Machine.description, commit, Machine.date)
            result.scenario = scenario.rawValue
            return result
        }
    }

    /// Shows a scenario's output until it ends, or ends it and its programs if it takes more than its limits.
    ///
    /// - Parameters:
    ///   - process: its process.
    ///   - limits: its limits.
    ///   - endSeconds: how long its programs may take to end by themselves.
    /// - Returns: its exit code.
    /// - Throws: `BenchmarkFailure` if it was ended, with the limit and what to do.
    static func supervise(
        _ process: RunningCommand, _ limits: ScenarioLimits, endSeconds: Double = endSeconds
    ) async throws -> Int32 {
        do {
            let exitCode = try await watch(process, limits)
            await end(process, endSeconds: endSeconds)
            return exitCode
        } catch {
            await end(process, endSeconds: endSeconds)
            throw error
        }
    }

    private static func watch(_ process: RunningCommand, _ limits: ScenarioLimits) async throws -> Int32 {
        let start = ContinuousClock.now
        var shown = 0
        while true {
            let exitCode = process.exitCode
            let output = process.output
            FileHandle.standardOutput.write(Data(output.utf8.dropFirst(shown)))
            shown = output.utf8.count
            if let exitCode { return exitCode }
            let mebibytes = ProcessTree(of: process.identifier).residentMebibytes
            guard mebibytes <= limits.mebibytes else {
                throw BenchmarkFailure(
                    description: """
                        its processes had \(mebibytes) MiB resident, more than its limit of \(limits.mebibytes) MiB: \
                        ended. Look for what grows, or raise the limit with --mebibytes-maximum.
                        """)
            }
            guard start.duration(to: .now).seconds <= limits.seconds else {
                throw BenchmarkFailure(
                    description: """
                        not done within its limit of \(limits.seconds) s: ended. Run it while nothing else is busy, or \
                        raise the limit with --seconds-maximum. \(process.errors.suffix(4_000))
                        """)
            }
            try await Pause.seconds(lookSeconds)
        }
    }

    private static func end(_ process: RunningCommand, endSeconds: Double) async {
        let tree = ProcessTree(of: process.identifier)
        process.signal(SIGKILL)
        _ = await process.end()
        let start = ContinuousClock.now
        while !tree.running.isEmpty, start.duration(to: .now).seconds < endSeconds {
            try? await Pause.seconds(lookSeconds)
        }
        for identifier in tree.running { kill(identifier, SIGKILL) }
    }
}
