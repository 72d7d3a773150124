/// Digests that stand for a token where only equality counts.
extension DeviceToken {
    /// A digest of the whole address.
    ///
    /// - Parameter seed: keeps others from choosing tokens with equal digests.
    /// - Returns: the digest; never 0.
    public func digest(seed: UInt64) -> UInt64 { bytes.withUnsafeBytes { Self.digest($0, seed: seed) } }

    /// A digest of the origin of a browser's endpoint: everything before the path.
    ///
    /// - Parameter seed: keeps others from choosing hosts with equal digests.
    /// - Returns: the digest; 0 for tokens of services that have one origin only.
    public func originDigest(seed: UInt64) -> UInt64 {
        guard details?.webPushKeys != nil else { return 0 }
        return bytes.withUnsafeBytes { Self.digest(.init(rebasing: $0[..<Self.originEnd(of: $0)]), seed: seed) }
    }

    /// The origin of a browser's endpoint, for people, shortened; empty for other tokens.
    public var originText: String {
        guard details?.webPushKeys != nil else { return "" }
        let origin = bytes.withUnsafeBytes { Array($0[..<Self.originEnd(of: $0)].prefix(100)) }
        return String(decoding: origin, as: UTF8.self)
    }

    /// Where the path of an endpoint begins (RFC 3986, section 3.2: a slash, a question mark or a number sign).
    private static func originEnd(of endpoint: UnsafeRawBufferPointer) -> Int {
        let afterScheme = min("https://".utf8.count, endpoint.count)
        return endpoint[afterScheme...].firstIndex {
            [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
        }
            ?? endpoint.count
    }

    /// Eight bytes a step, mixed as SplitMix64 does.
    private static func digest(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var digest = seed ^ UInt64(bytes.count)
        var offset = 0
        while offset < bytes.count {
            var word: UInt64 = 0
            if offset + 8 <= bytes.count {
                word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            } else {
                for byte in bytes[offset...] { word = word << 8 | UInt64(byte) }
            }
            digest = (digest ^ word) &* 0xbf58_476d_1ce4_e5b9
            digest ^= digest >> 29
            offset += 8
        }
        // The last word's high bytes have not reached the low bits yet, by which tables choose a place.
        digest = (digest ^ digest >> 30) &* 0xbf58_476d_1ce4_e5b9
        digest = (digest ^ digest >> 27) &* 0x94d0_49bb_1331_11eb
        return max(1, digest ^ digest >> 31)
    }
}
