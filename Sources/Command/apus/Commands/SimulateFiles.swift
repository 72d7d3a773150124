import Glibc

/// The files that `apus simulate` reads before it starts and writes beside its records.
enum SimulateFiles {
    /// The largest script or key that is read.
    private static let bytesMaximum = 256 << 20

    /// Reads a whole file.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMaximum else {
                throw CommandFailure(.noInput, "\(path) is larger than \(bytesMaximum) bytes")
            }
        }
    }

    /// Writes a file atomically, so that a waiting reader finds it complete.
    ///
    /// - Parameters:
    ///   - text: the content.
    ///   - path: the file, which is replaced if it is there.
    ///   - mode: the permissions of a new file.
    /// - Throws: `CommandFailure` with `cannotCreate`, or `inputOutput` if the disk is full.
    static func write(_ text: String, to path: String, mode: mode_t) throws(CommandFailure) {
        let temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw cannotWrite(path, errno) }
        let file = StandardOutput(descriptor: descriptor)
        file.write(text)
        let problem = file.finish()
        close(descriptor)
        guard problem == nil, rename(temporary, path) == 0 else {
            let failure = problem.map { CommandFailure(.inputOutput, "cannot write \(path): \($0)") }
            let other = cannotWrite(path, errno)
            unlink(temporary)
            throw failure ?? other
        }
    }

    /// Whether there is a file by this name.
    static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes a secret, never over an existing file.
    static func writeSecret(_ text: String, to path: String) throws(CommandFailure) {
        guard !isThere(path) else {
            throw CommandFailure(.cannotCreate, "\(path) already exists; use it with --key-file, or name another file")
        }
        try write(text, to: path, mode: 0o600)
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure(.noInput, "cannot read \(path): \(String(cString: strerror(errno)))")
    }

    private static func cannotWrite(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.cannotCreate, "cannot write \(path): \(String(cString: strerror(code)))")
    }
}
