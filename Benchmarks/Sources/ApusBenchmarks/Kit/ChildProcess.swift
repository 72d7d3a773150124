import Foundation
import PushTestKit

/// A program that a scenario starts.
///
/// It ends with this process, whatever ends that.
final class ChildProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let command: RunningCommand

    /// The process identifier.
    var identifier: Int32 { command.identifier }
    /// What it has written to standard output so far.
    var output: String { command.output }
    /// What it has written to standard error so far.
    var errors: String { command.errors }
    /// Its exit code, or 128 and the number of the signal that ended it; nil while it runs.
    var exitCode: Int32? { command.exitCode }

    /// Starts a program in the current folder.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(description: "\(path) is missing; run 'deploy/bin/install-packages bench'")
        }
        command = try RunningCommand(
            program: path, arguments, environment: environment,
            workingFolder: FileManager.default.currentDirectoryPath)
    }

    /// Runs a program to its end.
    static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let child = try ChildProcess(path, arguments)
        let status = child.waitUntilExit()
        return (status, child.output + (status == 0 ? "" : child.errors))
    }

    /// Waits until it has written a whole line to standard output, and gives the first.
    func firstLine() throws -> Substring {
        for _ in 0..<6_000 {
            let hasEnded = exitCode != nil
            let lines = output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            if lines.count == 2 { return lines[0] }
            guard !hasEnded else { break }
            usleep(10_000)
        }
        throw Failure(description: "process \(identifier) wrote no line: \(errors)")
    }

    /// Asks it to end, and makes it end if it has not after ten seconds.
    func end() {
        command.signal(SIGTERM)
        for _ in 0..<1_000 where exitCode == nil { usleep(10_000) }
        endNow()
    }

    /// Ends it without asking.
    func endNow() {
        command.signal(SIGKILL)
        waitUntilExit()
    }

    @discardableResult
    private func waitUntilExit() -> Int32 {
        while true {
            if let exitCode { return exitCode }
            usleep(2_000)
        }
    }

    deinit { end() }
}
