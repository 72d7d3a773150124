import COpenSSL
import Essentials

/// The stored form of a password: scrypt (RFC 7914) with a random salt.
///
/// Its text is `$scrypt$ln=15,r=8,p=1$SALT$HASH`, salt and hash in hexadecimal digits. Verification takes some 60 ms of
/// a processor and 32 MiB, so a stolen file of hashes is expensive to guess from.
public struct PasswordHash: Hashable, Sendable {
    /// The cost of a hash: 2^`costBits` blocks of 1 KiB each (`r` = 8), once (`p` = 1).
    private static let costBits = 15
    /// The costs that are accepted in a text, so that a file cannot make a login take gigabytes.
    private static let costBitsAccepted = 10...18
    private static let blockFactor = 8
    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let memoryBytesMaximum: UInt64 = 1 << 30

    private let costBits: Int
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new salt.
    ///
    /// - Throws: `CryptoError` if there is no memory for it.
    public init(of password: [UInt8]) throws(CryptoError) {
        let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: 0...255) }
        costBits = Self.costBits
        self.salt = salt
        hash = try Self.scrypt(password, salt: salt, costBits: Self.costBits)
    }

    /// Reads the text of a hash; nil if it is none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", parts[2].hasPrefix("ln="),
            parts[2].hasSuffix(",r=8,p=1"), let costBits = Int(parts[2].dropFirst(3).dropLast(8)),
            Self.costBitsAccepted.contains(costBits), let salt = HexadecimalDigits.bytes(parts[3]), salt.count >= 8,
            salt.count <= 64, let hash = HexadecimalDigits.bytes(parts[4]), hash.count == Self.hashBytes
        else { return nil }
        self.costBits = costBits
        self.salt = salt
        self.hash = hash
    }

    /// The text, for a file.
    public var text: String {
        "$scrypt$ln=\(costBits),r=8,p=1$\(HexadecimalDigits.text(salt))$\(HexadecimalDigits.text(hash))"
    }

    /// Whether a password is the one that was hashed; false as well if there is no memory to find out.
    public func matches(_ password: [UInt8]) -> Bool {
        guard let found = try? Self.scrypt(password, salt: salt, costBits: costBits) else { return false }
        return MessageAuthentication.isEqual(found, hash)
    }

    private static func scrypt(_ password: [UInt8], salt: [UInt8], costBits: Int) throws(CryptoError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: hashBytes)
        let isMade = password.withUnsafeBytes { bytes in
            EVP_PBE_scrypt(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count,
                UInt64(1) << UInt64(costBits), UInt64(blockFactor), 1, memoryBytesMaximum, &hash, hash.count)
        }
        guard isMade == 1 else { throw CryptoError(.libraryFailed, "there is no memory to hash a password") }
        return hash
    }
}
