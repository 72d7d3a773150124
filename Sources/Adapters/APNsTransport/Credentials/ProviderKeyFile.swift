public import Crypto
internal import Glibc
public import ServiceClient

/// Reads the file in which Apple hands out a signing key (`AuthKey_….p8`).
public enum ProviderKeyFile {
    /// A key, and the warnings about its file.
    public struct Content: Sendable {
        /// The key.
        public let key: ES256PrivateKey
        /// A sentence for the operator if others on the machine may read the file; nil if all is well.
        public let warning: String?
    }

    /// The largest file that is looked at; a key has about 250 bytes.
    private static let sizeBytesMaximum = 65_536

    /// Reads a key.
    ///
    /// - Parameter path: the file.
    /// - Returns: the key.
    /// - Throws: `ServiceError` with `keyUnreadable` (missing, a folder, no permission) or `keyInvalid` (empty, too
    ///   large, no key, a key of another kind).
    public static func read(path: String) throws(ServiceError) -> Content {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ServiceError(.keyUnreadable, "\(path) is not a file; key_file must name the .p8 file from Apple")
        }
        let bytes = try content(of: descriptor, path: path)
        guard !bytes.isEmpty else {
            throw ServiceError(.keyInvalid, "\(path) is empty; put the .p8 file from Apple there")
        }
        do throws(CryptoError) {
            let key = try ES256PrivateKey(pem: bytes)
            return Content(key: key, warning: warning(mode: status.st_mode, path: path))
        } catch {
            throw ServiceError(.keyInvalid, "\(path) holds no usable key: \(error.message)")
        }
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
            guard bytes.count <= sizeBytesMaximum else {
                throw ServiceError(
                    .keyInvalid, "\(path) is larger than \(sizeBytesMaximum) bytes, so it is no key file")
            }
        }
    }

    private static func warning(mode: mode_t, path: String) -> String? {
        guard mode & 0o077 != 0 else { return nil }
        return "\(path) can be read or changed by other users (mode \(String(mode & 0o777, radix: 8))); "
            + "run: chmod 600 \(path)"
    }

    private static func unreadable(_ path: String) -> ServiceError {
        ServiceError(
            .keyUnreadable, "\(path) cannot be read: \(String(cString: strerror(errno))); check key_file and its owner")
    }
}
