import Glibc

/// Waits for servers that do not say when they are ready.
enum ListeningPort {
    /// Waits until something accepts connections on a port of 127.0.0.1, for ten seconds at most.
    static func wait(_ port: UInt16) throws(ChildProcess.Failure) {
        for _ in 0..<1_000 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if code == 0 { return }
            usleep(10_000)
        }
        throw ChildProcess.Failure(description: "nothing listens on port \(port)")
    }
}
