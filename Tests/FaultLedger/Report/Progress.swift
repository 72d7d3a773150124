import Glibc

/// Tells whoever watches what goes on, on standard error.
enum Progress {
    /// Writes a line.
    static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
