import Glibc

/// Reads a small file as a whole.
enum InputFile {
    /// The largest file that is taken, in bytes: as large as an event.
    static let bytesMaximum = 4 * 1024 * 1024

    /// The bytes of a file; `-` is standard input.
    ///
    /// - Throws: `CommandFailure`: `noInput` if it cannot be read, `data` if it is too large.
    static func bytes(_ path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.noInput, "\(path): \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFailure(.noInput, "\(path): \(String(cString: strerror(errno)))")
            }
            bytes += buffer[..<count]
            guard bytes.count <= bytesMaximum else {
                throw CommandFailure(.data, "\(path) has more than \(bytesMaximum) bytes.")
            }
        }
    }
}
