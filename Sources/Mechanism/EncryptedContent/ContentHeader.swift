internal import Crypto

/// The header of a body with the content coding `aes128gcm` (RFC 8188 section 2.1), as RFC 8291 section 4 restricts it.
///
/// It has 86 bytes: the salt (16), the record size (4, highest byte first), the length of the key identifier (1), and
/// the key identifier, which is the sender's public key (65).
public struct ContentHeader: Sendable, Hashable {
    /// The length of the header.
    public static let byteCount = saltBytes + 5 + P256KeyPair.publicPointBytes

    static let saltBytes = 16
    /// A record holds at least the tag (16), the delimiter, and one byte of content (RFC 8188 section 2.1).
    static let recordBytesMinimum: UInt32 = 18

    /// The salt: 16 bytes, never used before.
    public let salt: [UInt8]
    /// The size that a record would have if another one followed it, in bytes.
    public let recordBytes: UInt32
    /// The sender's public key for this message, as an uncompressed point: 65 bytes.
    public let senderPoint: [UInt8]

    /// Reads the header of a body.
    ///
    /// - Parameter body: the body of a request.
    /// - Throws: `EncryptedContentError` with `headerInvalid` if it is cut off, the record size is below 18, or the key
    ///   identifier has another length than 65.
    public init(of body: [UInt8]) throws(EncryptedContentError) {
        let lengthIndex = Self.saltBytes + 4
        guard body.count > lengthIndex else {
            throw EncryptedContentError(
                .headerInvalid,
                "the body has \(body.count) bytes; its header alone has \(Self.byteCount) (RFC 8188 section 2.1)")
        }
        recordBytes = body[Self.saltBytes..<lengthIndex].reduce(0) { $0 << 8 | UInt32($1) }
        guard recordBytes >= Self.recordBytesMinimum else {
            throw EncryptedContentError(
                .headerInvalid,
                "the record size is \(recordBytes); it must be at least \(Self.recordBytesMinimum) "
                    + "(RFC 8188 section 2.1)")
        }
        guard Int(body[lengthIndex]) == P256KeyPair.publicPointBytes else {
            throw EncryptedContentError(
                .headerInvalid,
                "the key identifier has \(body[lengthIndex]) bytes; it must be the sender's public key, "
                    + "an uncompressed point of \(P256KeyPair.publicPointBytes) bytes (RFC 8291 section 4)")
        }
        guard body.count >= Self.byteCount else {
            throw EncryptedContentError(
                .headerInvalid,
                "the body has \(body.count) bytes; its header alone has \(Self.byteCount) (RFC 8291 section 4)")
        }
        salt = Array(body[..<Self.saltBytes])
        senderPoint = Array(body[(lengthIndex + 1)..<Self.byteCount])
    }

    /// Writes a header.
    ///
    /// - Parameters:
    ///   - salt: 16 bytes.
    ///   - recordBytes: the record size.
    ///   - senderPoint: 65 bytes.
    ///   - body: receives the header at its end.
    static func append(salt: [UInt8], recordBytes: UInt32, senderPoint: [UInt8], to body: inout [UInt8]) {
        body += salt
        for shift: UInt32 in [24, 16, 8, 0] { body.append(UInt8(truncatingIfNeeded: recordBytes >> shift)) }
        body.append(UInt8(truncatingIfNeeded: senderPoint.count))
        body += senderPoint
    }
}
