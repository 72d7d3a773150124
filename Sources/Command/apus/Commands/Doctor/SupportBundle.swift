import Glibc

/// A new folder with files of text, which only their owner can read.
struct SupportBundle {
    /// One file of the bundle.
    struct File: Sendable {
        /// The name.
        let name: String
        /// The content in words, or the reason for its absence.
        let note: String
        /// Whether it was written.
        let isWritten: Bool
    }

    /// The path of the folder.
    let path: String
    /// The files so far, those that could not be had included.
    private(set) var files: [File] = []
    private let redaction: Redaction

    /// Creates the folder.
    ///
    /// - Throws: `CommandFailure` if it exists or cannot be created: files of an earlier run must not be mixed in.
    init(path: String, redaction: Redaction) throws(CommandFailure) {
        guard mkdir(path, 0o700) == 0 else {
            let problem = errno == EEXIST ? "it exists; name another folder" : String(cString: strerror(errno))
            throw CommandFailure(.cannotCreate, "cannot create \(path): \(problem)")
        }
        self.path = path
        self.redaction = redaction
    }

    /// Writes a file.
    mutating func add(_ name: String, _ note: String, _ text: String) throws(CommandFailure) {
        let path = "\(path)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let file = StandardOutput(descriptor: descriptor)
        file.write(redaction.redacted(text.last == "\n" ? text : text + "\n"))
        if let problem = file.finish() { throw CommandFailure(.inputOutput, "cannot write \(path): \(problem)") }
        files.append(File(name: name, note: note, isWritten: true))
    }

    /// Says why there is no such file.
    mutating func lacks(_ name: String, because reason: String) {
        files.append(File(name: name, note: redaction.redacted(reason), isWritten: false))
    }
}
