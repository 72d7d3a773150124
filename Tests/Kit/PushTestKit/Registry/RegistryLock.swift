import Glibc

/// Holds the write lock of an SQLite file from another process, the way an operator's `sqlite3` does.
public final class RegistryLock {
    /// Why there is no lock.
    public struct Failure: Error, Sendable {
        /// The remedy.
        public let description: String
    }

    /// How long to wait for others who write.
    private static let waitMilliseconds = 30_000

    private let process: SupervisedProcess.Started

    /// Takes the lock, as soon as it is free.
    ///
    /// Readers are not kept out: a registry has a write-ahead log, and then not even `BEGIN EXCLUSIVE` does that.
    ///
    /// - Parameter path: the file.
    /// - Throws: `Failure` with what sqlite3 said, or `PrivateServerFailure` if it cannot be started.
    public init(path: String) throws {
        // Unbuffered, because sqlite3 keeps its output to a pipe until it ends.
        process = try SupervisedProcess.start(
            ["/usr/bin/stdbuf", "-o0", "/usr/bin/sqlite3", "-bail", path], environment: [:])
        say(".timeout \(Self.waitMilliseconds)\nbegin immediate;\nselect 'locked';\n")
        let answer = SupervisedProcess.readLine(process.standardOutput)
        guard answer == "locked" else {
            end()
            throw Failure(
                description: "sqlite3 took no lock (\(answer ?? "it said nothing")); is it installed?"
                    + " (apt-get install sqlite3)")
        }
    }

    /// Releases the lock, and waits until the other process has ended.
    public func release() {
        say("rollback;\n.quit\n")
        end()
    }

    private func say(_ text: String) {
        // A process that has ended does not read; its earlier output tells why.
        _ = send(process.standardInput, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    private func end() {
        close(process.standardInput)
        SupervisedProcess.waitForEnd(process.processIdentifier)
        close(process.standardOutput)
    }
}
