import PushTestKit

/// Changes what a running process may have, with `prlimit` of util-linux.
enum ResourceLimit {
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
