import Crypto
import Essentials
import PushTestKit
import Testing

@Suite("Keys on P-256 from bare numbers")
struct P256Tests {
    /// The base point and the order (FIPS 186-4 appendix D.1.2.3).
    private static let base = Hexadecimal.bytes(
        """
        04 6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296
           4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
        """)
    private static let order = Hexadecimal.bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

    /// RFC 8291 appendix A.
    private static let sender = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let senderPoint =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    private static let recipient = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    private static let recipientPoint =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let sharedSecret = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"

    private static func scalar(_ number: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [number] }

    private static func decode(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    /// The order and numbers beside it.
    private static func order(plus difference: Int) -> [UInt8] {
        order.dropLast() + [UInt8(truncatingIfNeeded: Int(order[31]) + difference)]
    }

    @Test("A scalar brings its published point along, and comes out again")
    func publishedScalars() throws {
        let pairs = [
            (try Self.decode(Self.sender), try Self.decode(Self.senderPoint)),
            (try Self.decode(Self.recipient), try Self.decode(Self.recipientPoint)), (Self.scalar(1), Self.base),
        ]
        for (scalar, point) in pairs {
            let pair = try P256KeyPair(rawScalar: scalar)
            #expect(pair.publicPoint == point)
            #expect(try pair.rawScalar == scalar)
            let key = try ES256PrivateKey(rawScalar: scalar)
            #expect(key.publicPoint == point)
            #expect(try key.rawScalar == scalar)
            let message = Array("header.claims".utf8)
            #expect(try ES256PublicKey(point: point).isValid(signature: try key.sign(message), of: message))
        }
    }

    @Test("The scalar of RFC 7515 appendix A.3 signs what its published point verifies")
    func tokenVector() throws {
        let key = try ES256PrivateKey(rawScalar: try Self.decode("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
        let point = try Self.decode(
            "BH_Nzidw9sRdQYPL7m_bS3tYBzM1e-nvE7rPbjx70VRFx_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        #expect(key.publicPoint == point)
        let message = Array("eyJhbGciOiJFUzI1NiJ9.e30".utf8)
        #expect(try ES256PublicKey(point: point).isValid(signature: try key.sign(message), of: message))
    }

    @Test("A signing key read from PEM text is the same as the one from its scalar")
    func samePEM() throws {
        for _ in 0..<20 {
            let made = try ES256PrivateKey.generate()
            let read = try ES256PrivateKey(rawScalar: try made.rawScalar)
            #expect(read.pem == made.pem)
            #expect(read.publicKeyPEM == made.publicKeyPEM)
            #expect(read.publicPoint == made.publicPoint)
        }
    }

    @Test("A scalar of 0, from the order on, or of another length is refused; its neighbours are not")
    func refusedScalars() throws {
        let zero = Self.scalar(0)
        let highest = [UInt8](repeating: 0xff, count: 32)
        let lengths = [[], Array(zero.dropLast()), [0] + Self.scalar(1)]
        for scalar in [zero, Self.order, Self.order(plus: 1), highest] + lengths {
            for make in [
                { _ = try ES256PrivateKey(rawScalar: scalar) }, { _ = try P256KeyPair(rawScalar: scalar) },
            ] as [() throws -> Void] {
                let error = try #require(throws: CryptoError.self) { try make() }
                #expect(error.code == .keyInvalid)
                #expect(error.message.contains(scalar.count == 32 ? "order" : "\(scalar.count) bytes"), "\(error)")
            }
        }
        // The negative of the base point: the same x.
        let last = try P256KeyPair(rawScalar: Self.order(plus: -1))
        #expect(last.publicPoint[..<33] == Self.base[..<33])
        #expect(last.publicPoint[33...] != Self.base[33...])
    }

    /// Bytes that are no uncompressed point on the curve, each with a word of the reason.
    private static var refusedPoints: [(point: [UInt8], word: String)] {
        var points: [(point: [UInt8], word: String)] = [
            ([], "0 bytes"), ([0], "1 bytes"), (Array(base.dropLast()), "64 bytes"), (base + [0], "66 bytes"),
            // The compressed form, the hybrid form, and others in its place.
            ([3] + base[1..<33], "33 bytes"), ([7] + base.dropFirst(), "first of them 7"),
            ([0] + base.dropFirst(), "first of them 0"),
            // No coordinates of any point.
            ([4] + [UInt8](repeating: 0, count: 64), "no point"),
            ([4] + [UInt8](repeating: 0xff, count: 64), "no point"),
        ]
        // The same point with x raised by the field's size: (0, y) has such a twin that fits into 32 bytes.
        let prime = Hexadecimal.bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let root = Hexadecimal.bytes("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        points.append(([4] + prime + root, "no point"))
        for index in 1..<65 {
            var point = base
            point[index] ^= 1
            points.append((point, "no point"))
        }
        return points
    }

    @Test("A point in another form, or off the curve, is refused with its reason, and the next one is taken")
    func refusedPointsHaveReasons() throws {
        let agreement = try P256KeyAgreement()
        let pair = try agreement.generate()
        var secret: [UInt8] = []
        for (point, word) in Self.refusedPoints {
            for take in [
                { _ = try ES256PublicKey(point: point) }, { try P256KeyPair.requireValidPoint(point) },
                { try agreement.agree(pair, with: point, into: &secret) },
            ] as [() throws -> Void] {
                let error = try #require(throws: CryptoError.self) { try take() }
                #expect(error.code == .keyInvalid)
                #expect(error.message.contains(word), "\(error)")
            }
            try agreement.agree(pair, with: Self.base, into: &secret)
            // The product with the base point is the pair's own point.
            #expect(secret == Array(pair.publicPoint[1..<33]))
        }
        // The twin that was too large: (0, y) is on the curve.
        let zero =
            [4] + [UInt8](repeating: 0, count: 32)
            + Hexadecimal.bytes("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        try P256KeyPair.requireValidPoint(zero)
    }

    @Test("Both sides agree on the secret of RFC 8291 appendix A")
    func publishedAgreement() throws {
        let agreement = try P256KeyAgreement()
        let expected = try Self.decode(Self.sharedSecret)
        let ends = [(Self.sender, Self.recipientPoint), (Self.recipient, Self.senderPoint)]
        for (scalar, point) in ends + ends {
            var secret: [UInt8] = []
            let pair = try P256KeyPair(rawScalar: try Self.decode(scalar))
            try agreement.agree(pair, with: try Self.decode(point), into: &secret)
            #expect(secret == expected)
        }
    }

    @Test("Both sides of random pairs agree, and no two pairs are the same")
    func randomAgreements() throws {
        let agreement = try P256KeyAgreement()
        var points: Set<[UInt8]> = []
        var (one, other): ([UInt8], [UInt8]) = ([], [])
        for _ in 0..<100 {
            let (first, second) = (try agreement.generate(), try P256KeyPair.generate())
            try agreement.agree(first, with: second.publicPoint, into: &one)
            try agreement.agree(second, with: first.publicPoint, into: &other)
            #expect(one == other)
            #expect(one.count == P256KeyAgreement.secretBytes)
            points.formUnion([first.publicPoint, second.publicPoint])
        }
        #expect(points.count == 200)
    }

    @Test("Random bytes have the length that was asked for, and do not repeat")
    func randomBytes() throws {
        for count in [0, 1, 16, 100] {
            var bytes: [UInt8] = [1, 2]
            try RandomBytes.append(count, to: &bytes)
            #expect(bytes.count == 2 + count)
            #expect(bytes.starts(with: [1, 2]))
            #expect(try RandomBytes.make(count: count).count == count)
        }
        var seen: Set<[UInt8]> = []
        for _ in 0..<1_000 { seen.insert(try RandomBytes.make(count: 16)) }
        #expect(seen.count == 1_000)
    }
}
