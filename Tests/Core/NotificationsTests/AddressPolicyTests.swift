import Glibc
import Testing

@testable import Notifications

@Suite("Addresses that pushes may go to")
struct AddressPolicyTests {
    /// The bytes of an address in numbers, as the system reads them.
    private static func bytes(_ text: String) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
        try #require(inet_pton(text.contains(":") ? AF_INET6 : AF_INET, text, &bytes) == 1, "\(text)")
        return bytes
    }

    @Test(
        "Public addresses are allowed, also just beside a block that is not",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
            "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0",
            "223.255.255.255", "2001:4860:4860::8888", "2a00:1450::1", "2001:200::1", "2001:db9::1", "2600::1",
            "::ffff:1.1.1.1", "64:ff9b::8.8.8.8",
        ])
    func allowed(text: String) throws { #expect(AddressPolicy().allows(try Self.bytes(text))) }

    @Test(
        "Addresses of the machine, of its network and of no use are refused",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7",
            "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254", "64:ff9b:1::1.1.1.1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1",
            "2002:7f00:1::", "3fff::1", "3fff:fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
            "4000::1", "1fff::1",
        ])
    func refused(text: String) throws { #expect(!AddressPolicy().allows(try Self.bytes(text))) }

    @Test("Bytes that are no address are refused")
    func lengths() {
        for count in [0, 1, 3, 5, 15, 17] { #expect(!AddressPolicy().allows([UInt8](repeating: 8, count: count))) }
    }

    @Test("A configured block is allowed, and nothing beside it")
    func ranges() throws {
        let loopback = try #require(AddressRange(address: [127, 0, 0, 0], prefixBits: 8))
        let one = try #require(AddressRange(address: try Self.bytes("fd00::7"), prefixBits: 128))
        let policy = AddressPolicy(allowedRanges: [loopback, one])
        for allowed in [[127, 9, 9, 9], try Self.bytes("::ffff:127.0.0.1"), try Self.bytes("fd00::7")] {
            #expect(policy.allows(allowed))
        }
        for refused in [try Self.bytes("fd00::8"), [10, 0, 0, 1]] { #expect(!policy.allows(refused)) }
        #expect(AddressRange(address: [127], prefixBits: 8) == nil)
        #expect(AddressRange(address: [127, 0, 0, 0], prefixBits: 33) == nil)
        #expect(try #require(AddressRange(address: [1, 2, 3, 4], prefixBits: 0)).contains([200, 0, 0, 0]))
    }
}
