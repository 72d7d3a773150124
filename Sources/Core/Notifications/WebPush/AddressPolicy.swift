/// Decides to which addresses pushes may go: a client of the registry chooses the endpoint, and must not reach what
/// lies behind the firewall by it.
///
/// An address is public unless it is in a block that IANA's registries of special-purpose addresses (RFC 6890) call
/// not globally reachable. Of IPv6 only global unicast (2000::/3) is public. An IPv4 address inside an IPv6 address
/// (mapped, RFC 4291 section 2.5.5.2; NAT64, RFC 6052) is judged as itself.
public struct AddressPolicy: Hashable, Sendable {
    /// Blocks that are allowed although they are not public, for a simulator or a service in the own network.
    public var allowedRanges: [AddressRange]

    /// Creates a policy.
    public init(allowedRanges: [AddressRange] = []) { self.allowedRanges = allowedRanges }

    private static let private4: [AddressRange] = [
        .init([0], 8), .init([10], 8), .init([100, 64], 10), .init([127], 8), .init([169, 254], 16),
        .init([172, 16], 12), .init([192, 0, 0], 24), .init([192, 0, 2], 24), .init([192, 88, 99], 24),
        .init([192, 168], 16), .init([198, 18], 15), .init([198, 51, 100], 24), .init([203, 0, 113], 24),
        .init([224], 4), .init([240], 4),
    ]
    private static let global6 = AddressRange([0x20], 3, of: 16)
    private static let special6: [AddressRange] = [
        // Protocol assignments with Teredo, documentation, 6to4, documentation.
        .init([0x20, 0x01, 0x00], 23, of: 16), .init([0x20, 0x01, 0x0d, 0xb8], 32, of: 16),
        .init([0x20, 0x02], 16, of: 16), .init([0x3f, 0xff, 0x00], 20, of: 16),
    ]
    private static let holdersOf4: [AddressRange] = [
        .init([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, of: 16), .init([0, 0x64, 0xff, 0x9b], 96, of: 16),
    ]

    /// Whether a push may go to an address.
    ///
    /// - Parameter address: 4 or 16 bytes, the highest first; any other length is refused.
    /// - Returns: whether it may.
    public func allows(_ address: [UInt8]) -> Bool {
        if allowedRanges.contains(where: { $0.contains(address) }) { return true }
        switch address.count {
        case 4: return !Self.private4.contains { $0.contains(address) }
        case 16:
            if Self.holdersOf4.contains(where: { $0.contains(address) }) { return allows(Array(address.suffix(4))) }
            return Self.global6.contains(address) && !Self.special6.contains { $0.contains(address) }
        default: return false
        }
    }
}

/// A block of addresses that begin with the same bits.
public struct AddressRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let prefixBits: Int

    /// Names a block.
    ///
    /// - Parameters:
    ///   - prefix: the first bytes; zeros follow.
    ///   - prefixBits: how many bits are the same.
    ///   - count: 4 or 16 bytes.
    init(_ prefix: [UInt8], _ prefixBits: Int, of count: Int = 4) {
        bytes = Array((prefix + [UInt8](repeating: 0, count: count)).prefix(count))
        self.prefixBits = prefixBits
    }

    /// Names a block by its first address and the number of bits that are the same, or answers nil.
    ///
    /// - Parameters:
    ///   - address: 4 or 16 bytes.
    ///   - prefixBits: 0 to 32, or to 128.
    public init?(address: [UInt8], prefixBits: Int) {
        guard address.count == 4 || address.count == 16, (0...address.count * 8).contains(prefixBits) else {
            return nil
        }
        self.init(address, prefixBits, of: address.count)
    }

    /// Whether an address of the same family lies in the block.
    public func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        for index in address.indices {
            let bits = min(8, prefixBits - 8 * index)
            guard bits > 0 else { return true }
            let mask = ~UInt8(0) << UInt8(8 - bits)
            guard address[index] & mask == bytes[index] & mask else { return false }
        }
        return true
    }
}
