import Glibc
import Synchronization

/// The socket of a service manager, which receives the notifications of a process to systemd.
public final class NotificationReceiver: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    public let path: String
    private let descriptor: Int32
    private let datagrams = Mutex<[String]>([])

    /// Binds the socket.
    ///
    /// - Parameter path: an absolute path, or `@` and a name in the abstract namespace.
    /// - Throws: `PrivateServerFailure` if it cannot be bound.
    public init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + bytes.count)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard code == 0 else {
            throw PrivateServerFailure("cannot bind \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// The datagrams so far, in their order.
    public var received: [String] {
        datagrams.withLock { datagrams in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                guard count >= 0 else { return datagrams }
                datagrams.append(String(decoding: bytes[..<count], as: UTF8.self))
            }
        }
    }

    /// The lines of all datagrams so far.
    public var lines: [String] { received.flatMap { $0.split(separator: "\n").map(String.init) } }

    /// The lines so far that are told once each: starts, reloads and stops.
    public var milestones: [String] { lines.filter { ["READY=1", "RELOADING=1", "STOPPING=1"].contains($0) } }

    /// Waits until a line satisfies a condition.
    ///
    /// - Parameters:
    ///   - awaited: the awaited line in words, for the error.
    ///   - isMet: whether all lines so far are enough.
    /// - Returns: all lines so far.
    /// - Throws: `DeadlineExceeded`.
    @discardableResult
    public func wait(for awaited: String, until isMet: ([String]) -> Bool) async throws -> [String] {
        try await eventually("the service manager to hear \(awaited)", poll: { lines }, until: isMet)
    }

    /// Waits until a line has come.
    @discardableResult
    public func wait(for line: String) async throws -> [String] {
        try await wait(for: line) { $0.contains(line) }
    }
}
