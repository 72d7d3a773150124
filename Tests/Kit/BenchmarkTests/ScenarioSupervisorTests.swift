import Foundation
import PushTestKit
import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: limits of a scenario", .timeLimit(.minutes(2)))
struct ScenarioSupervisorTests {
    private static let generous = ScenarioLimits(seconds: 600, mebibytes: 100_000)

    @Test("A scenario that takes too long is ended with all that it started, and the error names the limit")
    func time() async throws {
        let scenario = try await Scenario(script: "sleep 1000 & echo $!; sleep 1001")
        var limits = Self.generous
        limits.seconds = 0.25
        let failure = try await #require(throws: BenchmarkFailure.self) { try await scenario.supervise(limits) }
        #expect(failure.description.contains("not done within its limit of 0.25 s: ended."))
        #expect(failure.description.contains("raise the limit with --seconds-maximum."))
        #expect(scenario.process.exitCode == 137)
        try await scenario.expectNothingLeft()
    }

    @Test("A scenario whose children take too much memory is ended with them, and the error names limit and size")
    func memory() async throws {
        // `tail` keeps 64 MiB of zeros in memory, because they are one line without an end.
        let scenario = try await Scenario(
            script: "sleep 1000 & echo $!; head -c 67108864 /dev/zero | tail -n 1 | sleep 1001")
        var limits = Self.generous
        limits.mebibytes = 32
        let failure = try await #require(throws: BenchmarkFailure.self) { try await scenario.supervise(limits) }
        let found = try #require(failure.description.firstMatch(of: /its processes had ([0-9]+) MiB resident/))
        #expect(try #require(Int(found.1)) > 32)
        #expect(failure.description.contains("more than its limit of 32 MiB: ended."))
        #expect(failure.description.contains("raise the limit with --mebibytes-maximum."))
        #expect(scenario.process.exitCode == 137)
        try await scenario.expectNothingLeft()
    }

    @Test("A scenario within its limits runs to its end")
    func withinLimits() async throws {
        let process = try RunningCommand(program: "/bin/sh", ["-c", "exit 3"], in: TemporaryFolder())
        #expect(try await ScenarioSupervisor.supervise(process, Self.generous) == 3)
    }

    @Test(
        "A scenario that the program ends is named as failed, with the limit of the command line",
        arguments: [
            ("--seconds-maximum", "0", "matching: not done within its limit of 0.0 s: ended."),
            ("--mebibytes-maximum", "1", "MiB resident, more than its limit of 1 MiB: ended."),
        ])
    func commandLine(option: String, value: String, expected: String) async throws {
        let folder = try TemporaryFolder()
        let program = try RunningCommand(
            program: CommandRunner.path(of: "apus-benchmarks"), ["--small", option, value, "matching"], in: folder)
        let end = await program.end()
        #expect(end.exitCode == 70)
        #expect(end.output.contains(expected))
        #expect(end.errors == "apus-benchmarks: failed: matching\n")
    }
}

/// A script in place of a scenario, which begins a process that does not end with it, and names that in its first line.
private struct Scenario {
    let process: RunningCommand
    private let child: Int32

    init(script: String) async throws {
        process = try RunningCommand(program: "/bin/sh", ["-c", script], in: TemporaryFolder())
        try await process.wait(for: "\n", in: \.output)
        child = try #require(process.output.split(separator: "\n").first.flatMap { Int32($0) })
        try #require(isChildRunning)
    }

    func supervise(_ limits: ScenarioLimits) async throws {
        _ = try await ScenarioSupervisor.supervise(process, limits, endSeconds: 0)
    }

    /// Fails unless the child ends too.
    func expectNothingLeft() async throws {
        try await eventually("the end of process \(child)", within: .seconds(30)) { !isChildRunning }
    }

    private var isChildRunning: Bool {
        guard let state = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8) else { return false }
        return !state.contains("State:\tZ")
    }
}
