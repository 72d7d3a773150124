import Foundation

/// Holds the write lock of an SQLite file from another process, the way an operator's `sqlite3` does.
final class RegistryLock {
    struct Failure: Error {
        let description: String
    }

    private let process = Process()
    private let input = Pipe()

    init(path: String) throws {
        let output = Pipe()
        // Unbuffered, because sqlite3 keeps what it prints to a pipe until it ends.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
        process.arguments = ["-o0", "/usr/bin/sqlite3", path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data("begin immediate; select 'locked';\n".utf8))
        let answer = output.fileHandleForReading.availableData
        guard answer.starts(with: Data("locked".utf8)) else {
            throw Failure(description: "sqlite3 took no lock; is it installed? (apt-get install sqlite3)")
        }
    }

    func release() {
        input.fileHandleForWriting.write(Data("rollback;\n.quit\n".utf8))
        process.waitUntilExit()
    }
}
