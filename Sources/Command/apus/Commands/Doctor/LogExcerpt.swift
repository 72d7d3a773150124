import Glibc
import JSON

/// The last warnings and errors of a log.
enum LogExcerpt {
    /// How many lines are taken, and how many bytes at the log's end are looked through for them.
    private static let linesMaximum = 500
    private static let bytesMaximum = 16 * 1_024 * 1_024

    /// Reads the end of a log file in JSON.
    ///
    /// Lines in another form are left out, because they may hold secrets.
    ///
    /// - Parameter path: the file.
    /// - Returns: the last lines whose level is `warning` or `error`, in their order.
    /// - Throws: `CommandFailure` if the file cannot be read.
    static func read(_ path: String) throws(CommandFailure) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        guard length >= 0, lseek(descriptor, max(0, length - bytesMaximum), SEEK_SET) >= 0 else { throw failure(path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        // A log grows while it is read.
        while bytes.count < bytesMaximum {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return lines(of: bytes)
    }

    private static func lines(of log: [UInt8]) -> [String] {
        let parser = JSONParser()
        var chosen: [String] = []
        for line in log.split(separator: UInt8(ascii: "\n")).reversed() where chosen.count < linesMaximum {
            guard let entry = try? parser.parse(Array(line), refusingRepeatedKeys: false),
                let level = entry["level"]?.string,
                level == "warning" || level == "error"
            else { continue }
            chosen.append(String(decoding: line, as: UTF8.self))
        }
        return chosen.reversed()
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.noInput, "cannot read \(path): \(String(cString: strerror(errno)))")
    }
}
