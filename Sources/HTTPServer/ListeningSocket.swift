import Glibc

/// Makes the socket on which a server listens.
enum ListeningSocket {
    private static let backlogCount: Int32 = 64

    /// Binds and listens on the first address of the host that works.
    ///
    /// - Parameter configuration: the address, and what to call it.
    /// - Returns: a descriptor that is the caller's to close, and the port that it is bound to.
    /// - Throws: `HTTPServerError` with what to do.
    static func open(
        _ configuration: HTTPServerConfiguration
    ) throws(HTTPServerError) -> (descriptor: Int32, port: UInt16) {
        let host = configuration.host
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var addresses: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(configuration.port)", &hints, &addresses)
        guard code == 0 else {
            let reason = String(cString: gai_strerror(code))
            throw HTTPServerError(
                .hostUnknown,
                "\(configuration.name) cannot listen on \(host): \(reason); give an address of this machine as "
                    + configuration.settingName)
        }
        defer { freeaddrinfo(addresses) }
        var lastCode = EADDRNOTAVAIL
        var next = addresses
        while let address = next?.pointee {
            let descriptor = bound(to: address)
            if descriptor >= 0 { return (descriptor, boundPort(of: descriptor)) }
            lastCode = errno
            next = address.ai_next
        }
        throw failure(lastCode, configuration)
    }

    private static func bound(to address: addrinfo) -> Int32 {
        let kind = address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.ai_family, kind, address.ai_protocol)
        guard descriptor >= 0 else { return -1 }
        // A worker that starts again must not wait for the old one's connections to be forgotten.
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, backlogCount) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return -1
        }
        return descriptor
    }

    private static func boundPort(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                // The port is at the same place in both families.
                return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }

    private static func failure(_ code: Int32, _ configuration: HTTPServerConfiguration) -> HTTPServerError {
        let (host, port, setting) = (configuration.host, configuration.port, configuration.settingName)
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let reason = String(cString: strerror(code))
        let remedy =
            switch code {
            case EADDRINUSE: "stop the program that listens there, or give another port as \(setting) (0 for any)"
            case EADDRNOTAVAIL: "give an address of this machine as \(setting)"
            case EACCES: "give a port from 1024 up as \(setting)"
            default: "give another address as \(setting)"
            }
        return HTTPServerError(
            code == EADDRINUSE ? .addressInUse : .failed,
            "\(configuration.name) cannot listen on \(place): \(reason); \(remedy)")
    }
}
