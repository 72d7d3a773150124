import Foundation
import PushTestKit
import Testing

@Suite("Free ports")
struct FreePortsTests {
    @Test("No port is found that a socket has on another address of this machine")
    func freeOnEveryAddress() throws {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        let taken = try (0..<300).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(descriptor)
            return try #require(Self.bind(descriptor, host: 0x7F00_0002))
        }
        #expect(Set(try FreePorts.find(300)).isDisjoint(with: taken))
    }

    /// Binds a socket to a free port of an address; nil if that failed.
    private static func bind(_ descriptor: Int32, host: UInt32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                Foundation.bind(descriptor, pointer.baseAddress, length) == 0
                    && getsockname(descriptor, pointer.baseAddress, &length) == 0
            }
        }
        return isBound ? UInt16(bigEndian: address.sin_port) : nil
    }
}
