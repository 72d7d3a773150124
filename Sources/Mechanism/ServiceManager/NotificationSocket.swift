import Glibc

/// The datagram socket that notifications leave by; it never blocks.
final class NotificationSocket {
    /// The result of sending a datagram.
    enum Outcome: Hashable {
        case sent
        /// The service manager has not read the earlier ones.
        case full
        /// The system's reason.
        case failed(String)
    }

    private let descriptor: Int32
    private var address = sockaddr_un()
    private let addressLength: socklen_t

    /// Opens the socket.
    ///
    /// - Parameter path: an absolute path, or `@` and a name; `ServiceManagerSettings` has checked its length.
    init(path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var bytes = Array(path.utf8.prefix(ServiceManagerSettings.pathBytesMaximum))
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // Without a final zero, which would be part of an abstract name; a path needs none.
        let pathOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        addressLength = socklen_t(pathOffset + bytes.count)
    }

    deinit { close(descriptor) }

    /// Sends one datagram.
    func send(_ text: String) -> Outcome {
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let count = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, flags, $0, addressLength)
            }
        }
        guard count < 0 else { return .sent }
        return switch errno {
        case EAGAIN, ENOBUFS: .full
        default: .failed(String(cString: strerror(errno)))
        }
    }
}
