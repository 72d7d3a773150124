internal import EventLoop
internal import Glibc

/// The content of a small file with a secret: a signing key, a service account.
public struct CredentialFile: Sendable {
    /// The largest file that is read, in bytes; a key has some hundred, a service account two thousand.
    public static let bytesMaximum = 65_536

    /// The content, which is not empty.
    public let bytes: [UInt8]
    /// A sentence for the operator if others on the machine may read the file; nil if all is well.
    public let warning: String?

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - expected: the expected file, for the errors, for example `the .p8 file from Apple`.
    /// - Throws: `ServiceError` with `keyUnreadable` (missing, a folder, no permission), `keyInvalid` (empty, too
    ///   large) or `systemFailed` (it may be readable in a moment).
    public init(path: String, expected: String) throws(ServiceError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Self.unreadable(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ServiceError(.keyUnreadable, "\(path) is not a file; name \(expected)")
        }
        bytes = try Self.content(of: descriptor, path: path)
        guard !bytes.isEmpty else { throw ServiceError(.keyInvalid, "\(path) is empty; put \(expected) there") }
        warning =
            status.st_mode & 0o077 == 0
            ? nil
            : "\(path) can be read or changed by other users (mode \(String(status.st_mode & 0o777, radix: 8))); "
                + "run: chmod 600 \(path)"
    }

    private static func content(of descriptor: Int32, path: String) throws(ServiceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= bytesMaximum else {
                throw ServiceError(.keyInvalid, "\(path) is larger than \(bytesMaximum) bytes, so it is no such file")
            }
        }
    }

    private static func unreadable(_ path: String) -> ServiceError {
        let code = errno
        return ServiceError(
            EventLoopError.isTransient(code) ? .systemFailed : .keyUnreadable,
            "\(path) cannot be read: \(String(cString: strerror(code))); check the path and its owner")
    }
}
