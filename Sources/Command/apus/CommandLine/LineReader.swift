import Glibc

/// Reads a file line by line with bounded memory.
final class LineReader {
    /// One line.
    enum Line {
        /// Its bytes, without the line's end; good until the next line is read.
        case bytes(ArraySlice<UInt8>)
        /// It is longer than is accepted and was passed over.
        case tooLong
    }

    /// The longest line, in bytes, unless told otherwise: far more than a device and hundreds of subscriptions need.
    static let lineBytesMaximum = 256 * 1024

    private static let chunkBytes = 64 * 1024

    private let descriptor: Int32
    private let name: String
    private let lineBytesMaximum: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var isInsideLongLine = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - descriptor: an open file; it stays the caller's.
    ///   - name: its name in errors.
    ///   - lineBytesMaximum: the longest line that is taken.
    init(descriptor: Int32, name: String, lineBytesMaximum: Int = LineReader.lineBytesMaximum) {
        self.lineBytesMaximum = lineBytesMaximum
        self.descriptor = descriptor
        self.name = name
    }

    /// Opens a file, reads it and closes it.
    ///
    /// - Parameters:
    ///   - path: the file; `-` for standard input.
    ///   - lineBytesMaximum: the longest line that is taken.
    ///   - body: reads.
    /// - Returns: the result of `body`.
    /// - Throws: `CommandFailure` if the file cannot be opened, and the errors of `body`.
    static func withFile<Value>(
        _ path: String, lineBytesMaximum: Int = LineReader.lineBytesMaximum, _ body: (LineReader) throws -> Value
    ) throws -> Value {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.noInput, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        return try body(
            LineReader(
                descriptor: descriptor, name: path == "-" ? "standard input" : path,
                lineBytesMaximum: lineBytesMaximum))
    }

    /// The next line, or nil at the end.
    ///
    /// - Returns: the line.
    /// - Throws: `CommandFailure` if the file cannot be read.
    func next() throws(CommandFailure) -> Line? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return finishLine(at: end, next: end + 1)
            }
            if isAtEnd {
                return start < buffer.count || isInsideLongLine ? finishLine(at: buffer.count, next: buffer.count) : nil
            }
            if buffer.count - start > lineBytesMaximum {
                isInsideLongLine = true
                start = buffer.count
            }
            searched = buffer.count - start
            try fill()
        }
    }

    private func finishLine(at end: Int, next: Int) -> Line {
        defer {
            start = next
            isInsideLongLine = false
        }
        return isInsideLongLine ? .tooLong : .bytes(buffer[start..<end])
    }

    /// Moves the unread bytes to the front and reads more.
    private func fill() throws(CommandFailure) {
        buffer.removeFirst(start)
        start = 0
        let used = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.chunkBytes))
        var count = -1
        repeat {
            count = buffer.withUnsafeMutableBytes { bytes in
                read(descriptor, bytes.baseAddress?.advanced(by: used), Self.chunkBytes)
            }
        } while count < 0 && errno == EINTR
        let failure = errno
        buffer.removeLast(Self.chunkBytes - max(count, 0))
        guard count >= 0 else {
            let code: ExitCode = failure == EISDIR ? .noInput : .inputOutput
            throw CommandFailure(code, "cannot read \(name): \(String(cString: strerror(failure)))")
        }
        isAtEnd = count == 0
    }
}
