import Crypto
import Testing

@Suite("Derivation of keys")
struct KeyDerivationTests {
    private struct Vector {
        let keyMaterial: [UInt8]
        let salt: [UInt8]
        let info: [UInt8]
        let output: String
    }

    /// RFC 5869 appendices A.1 to A.3.
    private static let vectors = [
        Vector(
            keyMaterial: [UInt8](repeating: 0x0b, count: 22), salt: Array(0x00...0x0c), info: Array(0xf0...0xf9),
            output: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Vector(
            keyMaterial: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            output: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        Vector(
            keyMaterial: [UInt8](repeating: 0x0b, count: 22), salt: [], info: [],
            output: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]

    @Test("The outputs of RFC 5869 come out, one after the other from one object")
    func publishedVectors() throws {
        let derivation = try HKDF()
        for vector in Self.vectors + Self.vectors.reversed() {
            let expected = Hexadecimal.bytes(vector.output)
            var output = [UInt8](repeating: 0, count: expected.count)
            try derivation.extract(vector.keyMaterial, salt: vector.salt)
            for _ in 0..<2 {
                try derivation.expand(into: &output, info: vector.info)
                #expect(output == expected)
            }
        }
    }

    @Test("Outputs of every length begin with the same bytes, up to the longest")
    func lengths() throws {
        let derivation = try HKDF()
        try derivation.extract(Array("key".utf8), salt: Array("salt".utf8))
        var longest = [UInt8](repeating: 0, count: HKDF.outputBytesMaximum)
        try derivation.expand(into: &longest, info: [1, 2, 3])
        for length in [0, 1, 31, 32, 33, 64, 65, 8_159] {
            var output = [UInt8](repeating: 0, count: length)
            try derivation.expand(into: &output, info: [1, 2, 3])
            #expect(output == Array(longest[..<length]))
        }
    }

    @Test("A derivation is that of two plain HMACs")
    func plainCodes() throws {
        let derivation = try HKDF()
        for length in [0, 1, 16, 63, 64, 65, 200] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let key = MessageAuthentication.code(of: bytes, key: bytes.reversed())
            var output = [UInt8](repeating: 0, count: 32)
            try derivation.extract(bytes, salt: bytes.reversed())
            try derivation.expand(into: &output, info: bytes)
            #expect(output == MessageAuthentication.code(of: bytes + [1], key: key))
        }
    }
}
