import Foundation
import PushTestKit

/// Changes what a running process may have, with `prlimit` of util-linux.
enum ResourceLimit {
    /// How many files a process has open.
    static func openFileCount(of identifier: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
    }

    /// How many bytes of address space a process has.
    static func addressSpaceBytes(of identifier: Int32) throws -> Int {
        try kilobytes("VmSize:", of: identifier) * 1_024
    }

    /// A line of what the kernel says of a process's memory, for example `VmRSS:`.
    static func kilobytes(_ name: String, of identifier: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        guard let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw StageFailure("process \(identifier) does not say how large it is")
        }
        return kilobytes
    }

    /// Sets soft limits, which leave the hard ones as they are.
    ///
    /// - Parameters:
    ///   - limits: as `prlimit` takes them, for example `--nofile=20:`.
    ///   - identifier: the process.
    ///   - folder: where `prlimit` runs.
    /// - Throws: `StageFailure` with what `prlimit` said.
    static func set(_ limits: String..., of identifier: Int32, in folder: TemporaryFolder) async throws {
        let result = try await CommandRunner.run(
            "/usr/bin/prlimit", ["--pid", "\(identifier)"] + limits, in: folder)
        guard result.exitCode == 0 else { throw StageFailure("prlimit: \(result.errors)") }
    }
}
