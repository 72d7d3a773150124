import Glibc

/// Where a TCP socket connects to or listens: an IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage: sockaddr_storage
    private let length: socklen_t

    init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        var storage = sockaddr_storage()
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
        }
        self.storage = storage
        self.length = socklen_t(count)
    }

    /// The address family, `AF_INET` or `AF_INET6`.
    var family: Int32 { Int32(storage.ss_family) }

    /// The address without its port: 4 or 16 bytes, the highest first; none of another family.
    public var hostBytes: [UInt8] {
        // `sin_addr` follows family and port, `sin6_addr` also the flow information (RFC 3493 section 3.3).
        let range =
            switch family {
            case AF_INET: 4..<8
            case AF_INET6: 8..<24
            default: 0..<0
            }
        return withUnsafeBytes(of: storage) { Array($0[range]) }
    }

    /// Runs `body` with the address as system calls want it.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Finds the addresses of a host, in the order in which the system wants them tried.
    ///
    /// A name asks the resolver and blocks until it answers, so it must not be resolved on a loop; an address in
    /// numbers answers at once.
    ///
    /// - Parameters:
    ///   - host: a DNS name, or an IPv4 or IPv6 address.
    ///   - port: the TCP port.
    /// - Returns: at least one address.
    /// - Throws: `EventLoopError` of the call `getaddrinfo`, with the host as subject.
    public static func resolve(host: String, port: UInt16) throws(EventLoopError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &first)
        guard code == 0 else { throw EventLoopError(call: "getaddrinfo", code: code, subject: host) }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                addresses.append(SocketAddress(address, length: entry.pointee.ai_addrlen))
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw EventLoopError(call: "getaddrinfo", code: EAI_NONAME, subject: host) }
        return addresses
    }

    /// The address and the port in their usual form, for logs.
    public var description: String {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let code = withPointer { address, length in
            getnameinfo(
                address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard code == 0 else { return "unknown address" }
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let number = String(decoding: port.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return family == AF_INET6 ? "[\(name)]:\(number)" : "\(name):\(number)"
    }
}
