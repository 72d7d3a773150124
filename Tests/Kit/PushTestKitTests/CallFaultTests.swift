import PushTestKit
import Testing

@Suite("System calls that fail")
struct CallFaultTests {
    /// Copies a file byte by byte under a fault; gives the end, the copy and the report.
    private func copy(_ fault: CallFault) async throws -> (result: CommandResult, copy: String, report: String) {
        let folder = try TemporaryFolder()
        let source = try folder.write("source.txt", "abcdef")
        let result = try await CommandRunner.run(
            "/usr/bin/dd", ["bs=2", "if=\(source)", "of=target.txt", "status=none", "conv=fsync"],
            environment: fault.environment(report: "\(folder.path)/report"), in: folder)
        return (result, (try? folder.read("target.txt")) ?? "", (try? folder.read("report")) ?? "")
    }

    @Test("The k-th write to a file fails, and what it does is reported", arguments: 1...3)
    func failsWrites(occurrence: Int) async throws {
        let (result, copy, report) = try await copy(
            CallFault(.write, on: .file("target.txt"), as: .full, occurrence: occurrence))
        #expect(result.exitCode == 1 && result.errors.contains("No space left"), "\(result)")
        #expect(copy == String("abcdef".prefix(2 * (occurrence - 1))) && report == "\(occurrence)\n")
    }

    @Test("A fault that comes after the last call does not strike, and says nothing")
    func doesNotStrike() async throws {
        let (result, copy, report) = try await copy(
            CallFault(.write, on: .file("target.txt"), as: .full, occurrence: 4))
        #expect(result.exitCode == 0 && copy == "abcdef" && report.isEmpty, "\(result)")
    }

    @Test("Without the file that switches it on, nothing fails")
    func isSwitched() async throws {
        let folder = try TemporaryFolder()
        let fault = CallFault(.write, on: .file("target.txt"), as: .full, occurrence: 1, times: 1_000)
        let source = try folder.write("source.txt", "abcdef")
        let variables = fault.environment(report: "\(folder.path)/report", whileThereIs: "\(folder.path)/switch")
        for (isOn, exitCode) in [(false, 0), (true, 1)] {
            if isOn { try folder.write("switch", "") }
            let result = try await CommandRunner.run(
                "/usr/bin/dd", ["if=\(source)", "of=target.txt", "status=none"], environment: variables, in: folder)
            #expect(result.exitCode == Int32(exitCode), "\(result)")
        }
    }

    @Test("Short writes are half of what was asked for, and calls on other files are left alone")
    func shortensWrites() async throws {
        let (result, copy, report) = try await copy(
            CallFault(.write, on: .file("target.txt"), as: .short, occurrence: 1, times: 3))
        #expect(result.exitCode == 0 && copy == "abcdef" && report.split(separator: "\n").count == 3, "\(result)")
    }

    @Test("A read that fails, and a file that cannot be brought to the disk")
    func failsReadsAndSyncs() async throws {
        let read = try await copy(CallFault(.read, on: .file("source.txt"), as: .broken, occurrence: 2))
        #expect(read.result.exitCode == 1 && read.copy == "ab" && read.report == "2\n", "\(read.result)")
        let sync = try await copy(CallFault(.sync, on: .file("target.txt"), as: .broken, occurrence: 1))
        #expect(sync.result.exitCode == 1 && sync.copy == "abcdef" && sync.report == "1\n", "\(sync.result)")
    }
}
