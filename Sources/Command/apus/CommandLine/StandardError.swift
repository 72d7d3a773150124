import Essentials
import Glibc

/// Standard error: for people, unbuffered, made printable here as standard output is.
enum StandardError {
    /// Whether a person is looking at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one line, or some; a failure to do so is nothing that could be told to anyone.
    static func line(_ text: String) { write(text.printable(keepsLayout: true) + "\n") }

    /// Removes the line that the cursor of the terminal is in, and writes another one without ending it.
    ///
    /// "Erase the line" rather than blanks, because the width of the terminal is not known.
    static func replaceLine(_ text: String) { write("\r\u{1B}[K" + text.printable()) }

    /// Writes text as it is, in one system call where the system allows it.
    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
