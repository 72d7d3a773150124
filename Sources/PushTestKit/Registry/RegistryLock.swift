import Foundation

/// Holds the write lock of an SQLite file from another process, the way an operator's `sqlite3` does.
public final class RegistryLock {
    /// Why there is no lock.
    public struct Failure: Error, Sendable {
        /// What to do.
        public let description: String
    }

    /// How long to wait for others who write.
    private static let waitMilliseconds = 30_000

    private let process = Process()
    private let input = Pipe()

    /// Takes the lock, as soon as nobody else has it.
    ///
    /// Readers are not kept out: a registry has a write-ahead log, and then not even `BEGIN EXCLUSIVE` does that.
    ///
    /// - Parameter path: the file.
    /// - Throws: `Failure`, or what Foundation throws if sqlite3 cannot be started.
    public init(path: String) throws {
        let output = Pipe()
        // Unbuffered, because sqlite3 keeps what it prints to a pipe until it ends.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
        process.arguments = ["-o0", "/usr/bin/sqlite3", "-bail", path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(
            Data(".timeout \(Self.waitMilliseconds)\nbegin immediate;\nselect 'locked';\n".utf8))
        let answer = output.fileHandleForReading.availableData
        guard answer.starts(with: Data("locked".utf8)) else {
            throw Failure(description: "sqlite3 took no lock; is it installed? (apt-get install sqlite3)")
        }
    }

    /// Gives the lock back, and waits until the other process has ended.
    public func release() {
        input.fileHandleForWriting.write(Data("rollback;\n.quit\n".utf8))
        process.waitUntilExit()
    }
}
