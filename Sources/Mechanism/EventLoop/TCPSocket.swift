import CLinux
import Glibc

/// Non-blocking TCP sockets with the options that a busy connection needs.
///
/// Every socket that these functions answer is the caller's to close.
public enum TCPSocket {
    /// Connections that the kernel keeps ready for `accept`; the kernel cuts it at its own limit.
    private static let backlogDefault: Int32 = 1_024
    /// Silence after which the kernel asks whether the peer still lives, in seconds.
    private static let keepAliveIdleSeconds: Int32 = 60
    /// Time between two such questions, in seconds.
    private static let keepAliveIntervalSeconds: Int32 = 15
    /// The number of unanswered probes after which the connection is closed.
    private static let keepAliveProbesMaximum: Int32 = 4

    /// Begins to connect to the first address of a host that the kernel accepts.
    ///
    /// - Parameters:
    ///   - host: a DNS name (blocks while it is resolved, so not on a loop), or an address in numbers.
    ///   - port: the TCP port.
    /// - Returns: a socket that connects; it becomes writable when it has connected or failed (see `pendingError`).
    /// - Throws: `EventLoopError` if the host has no address, or no address can be tried.
    public static func connect(host: String, port: UInt16) throws(EventLoopError) -> Int32 {
        var failure = EventLoopError(call: "getaddrinfo", code: EAI_NONAME, subject: host)
        for address in try SocketAddress.resolve(host: host, port: port) {
            do throws(EventLoopError) {
                return try connect(to: address)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Begins to connect to an address.
    ///
    /// - Parameter address: an address from `SocketAddress.resolve`.
    /// - Returns: a socket that connects; it becomes writable when it has connected or failed (see `pendingError`).
    /// - Throws: `EventLoopError` if the kernel refuses at once.
    public static func connect(to address: SocketAddress) throws(EventLoopError) -> Int32 {
        let descriptor = try make(family: address.family)
        let code = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else {
            let failure = EventLoopError(call: "connect", subject: address.description)
            close(descriptor)
            throw failure
        }
        setOptions(descriptor)
        return descriptor
    }

    /// The error that a socket has pending (`SO_ERROR`), which reading takes away; 0 for none.
    public static func pendingError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
        return code
    }

    /// Listens on the first address of a host that can be bound.
    ///
    /// - Parameters:
    ///   - host: the local address or name, for example `127.0.0.1` or `::`.
    ///   - port: the TCP port; 0 lets the kernel choose a free one.
    /// - Returns: the listening socket and the port that it has.
    /// - Throws: `EventLoopError` of the call that failed (`bind` when the port is taken).
    public static func listen(
        host: String, port: UInt16
    ) throws(EventLoopError) -> (descriptor: Int32, port: UInt16) {
        var failure = EventLoopError(call: "getaddrinfo", code: EAI_NONAME, subject: host)
        for address in try SocketAddress.resolve(host: host, port: port) {
            do throws(EventLoopError) {
                return try listen(on: address)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func listen(on address: SocketAddress) throws(EventLoopError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = try make(family: address.family)
        do throws(EventLoopError) {
            // A restarted server may take its port back while old connections linger.
            setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
            guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
                throw EventLoopError(call: "bind", subject: address.description)
            }
            guard Glibc.listen(descriptor, backlogDefault) == 0 else {
                throw EventLoopError(call: "listen", subject: address.description)
            }
            return (descriptor, try localPort(descriptor))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Takes one waiting connection from a listening socket.
    ///
    /// - Parameter listener: a non-blocking listening socket.
    /// - Returns: the connection's socket, or nothing if none waits.
    /// - Throws: `EventLoopError` of the call `accept`, for example when the process has no descriptor left.
    public static func accept(_ listener: Int32) throws(EventLoopError) -> Int32? {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor < 0 else {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
                setOptions(descriptor)
                return descriptor
            }
            switch errno {
            case EAGAIN: return nil
            // The connection went away while it waited, which says nothing about the next one.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH: continue
            default: throw EventLoopError(call: "accept")
            }
        }
    }

    private static func make(family: Int32) throws(EventLoopError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw EventLoopError(call: "socket") }
        return descriptor
    }

    private static func localPort(_ descriptor: Int32) throws(EventLoopError) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw EventLoopError(call: "getsockname") }
        // The port has the same offset, and the highest byte first, in both families.
        return withUnsafeBytes(of: address) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// Without `TCP_NODELAY` a small request waits for the acknowledgement of the previous one; keep-alive detects
    /// vanished peers.
    private static func setOptions(_ descriptor: Int32) {
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, keepAliveIdleSeconds)
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, keepAliveIntervalSeconds)
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, keepAliveProbesMaximum)
    }

    /// A socket works without its options, so a refusal is no error.
    private static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
