import Glibc

/// The file that records are appended to; every write ends at the end of a line, so that several loops can share it.
///
/// The descriptor is valid until the last loop lets go of the file.
///
/// unchecked because the descriptor is set once, and several threads may `write` to one in append mode.
final class RecordFile: @unchecked Sendable {
    private let descriptor: Int32

    /// Creates the file, or empties it.
    ///
    /// - Throws: `SimulatorError` with the system's own text.
    init(path: String) throws(SimulatorError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SimulatorError(.fileFailed, "cannot write records to \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Writes all of the bytes; waits for the disk if it has to.
    ///
    /// - Returns: false if the disk took no more.
    func append(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }
}
