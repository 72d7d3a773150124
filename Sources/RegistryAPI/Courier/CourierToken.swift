import Crypto
import PushCore

/// The tokens of devices whose clients fetch their notifications: 24 random bytes, and 8 that tell them from tokens of
/// APNs.
///
/// So a token that a client registers again, even after its device was removed, is never taken for one of APNs.
enum CourierToken {
    private static let randomCount = 24
    private static let checkCount = 8

    /// A new token, from the system's generator.
    static func random() -> DeviceToken {
        let bytes = (0..<randomCount).map { _ in UInt8.random(in: 0...255) }
        guard let token = DeviceToken(bytes: bytes + check(bytes)) else {
            preconditionFailure("a token may have \(randomCount + checkCount) bytes")
        }
        return token
    }

    /// Whether a token is of this kind.
    static func isOne(_ token: DeviceToken) -> Bool {
        token.bytes.count == randomCount + checkCount
            && token.bytes.suffix(checkCount).elementsEqual(check(token.bytes.prefix(randomCount)))
    }

    /// What leads to a device's notifications: whoever knows it may fetch them.
    static func secret(of token: DeviceToken) -> String { Base64URL.encode(token.bytes) }

    /// The token that a secret was made of; nil if it was made of none.
    static func token(ofSecret secret: String) -> DeviceToken? {
        guard let token = Base64URL.decode(secret).flatMap({ DeviceToken(bytes: $0) }), isOne(token) else { return nil }
        return token
    }

    private static func check(_ bytes: some Sequence<UInt8>) -> ArraySlice<UInt8> {
        SHA256Digest.digest(Array("apus courier token\n".utf8) + bytes).prefix(checkCount)
    }
}
