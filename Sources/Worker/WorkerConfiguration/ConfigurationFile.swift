import EventLoop
import Glibc

/// Reads files that people write: keys, certificates, configurations.
public enum ConfigurationFile {
    /// Why a file cannot be read.
    public struct Failure: Error, CustomStringConvertible {
        /// The problem, without the path.
        public let message: String
        /// The remedy.
        public let remedy: String
        /// Whether there simply is no such file.
        var isMissingFile = false
        /// Whether the file may be readable in a moment, without a change to it.
        public var isTransient = false

        /// The problem and the remedy, without the path.
        public var description: String { "\(message); \(remedy)" }
    }

    /// The longest file that is read, in bytes.
    static let sizeBytesMaximum = 1 << 20

    /// Reads a whole file.
    public static func read(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(message: "it is a folder", remedy: "name a file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= sizeBytesMaximum else {
                throw Failure(message: "it is longer than \(sizeBytesMaximum) bytes", remedy: "name the right file")
            }
        }
    }

    /// Whether users may read the file that have no business with it; false if it is not there.
    ///
    /// A file of another owner may be open to its group, by which this process reads it: `root:apus` with mode 0640.
    static func isReadableByOthers(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o007) != 0
    }

    private static func failure(_ code: Int32) -> Failure {
        let text = String(cString: strerror(code))
        return switch code {
        case ENOENT, ENOTDIR: Failure(message: "there is no such file", remedy: "check the path", isMissingFile: true)
        case EACCES: Failure(message: "no permission to read it", remedy: "give this user the right to read it")
        default:
            Failure(message: text, remedy: "check the file", isTransient: EventLoopError.isTransient(code))
        }
    }
}
