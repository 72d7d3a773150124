import Glibc

/// Standard error: for people, unbuffered, a line at a time.
enum StandardError {
    /// Whether a person is looking at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one line; a failure to do so is nothing that could be told to anyone.
    static func line(_ text: String) { write(text + "\n") }

    /// Writes text as it is, in one system call where the system allows it.
    static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
