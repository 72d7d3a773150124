import Glibc

/// Finds TCP ports of 127.0.0.1 that nobody listens on.
public enum FreePorts {
    /// Finds different free ports; all are held until the last is found, so that none is found twice.
    ///
    /// - Parameter count: how many.
    /// - Returns: the ports, which somebody else may take before they are used.
    /// - Throws: `PrivateServerFailure` if the system has none.
    public static func find(_ count: Int) throws(PrivateServerFailure) -> [UInt16] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        var ports: [UInt16] = []
        for _ in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                    bind(descriptor, pointer.baseAddress, length) == 0
                        && getsockname(descriptor, pointer.baseAddress, &length) == 0
                }
            }
            guard code else { throw PrivateServerFailure("no free port: \(String(cString: strerror(errno)))") }
            ports.append(UInt16(bigEndian: address.sin_port))
        }
        return ports
    }
}
