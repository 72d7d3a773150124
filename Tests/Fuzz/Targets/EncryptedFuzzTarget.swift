import Crypto
import EncryptedContent

/// Decrypts a body as a browser would, and encrypts the same bytes for that browser.
///
/// The encrypted body must be readable, and must be unreadable after a bit of it was changed: which one is a choice.
struct EncryptedFuzzTarget: FuzzTarget {
    /// Where the record size is, on which no key depends (RFC 8188 section 2.2).
    private static let unauthenticated = 16..<20

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        guard let recipient = Self.recipient, let decryptor = try? MessageDecryptor(),
            let encryptor = try? MessageEncryptor()
        else { throw FuzzFailure("there is no cryptography") }
        _ = try? decryptor.decrypt(input.bytes, for: recipient)
        guard input.text.count <= MessageEncryptor.plaintextBytesMaximum,
            var body = try? encryptor.encrypt(input.text, for: recipient.publicKeys)
        else {
            return try promise(
                input.text.count > MessageEncryptor.plaintextBytesMaximum, "a message that fits is not encrypted")
        }
        try promise(
            (try? decryptor.decrypt(body, for: recipient)) == input.text, "what was encrypted is not read again")
        var input = input
        let place = (Int(input.byte()) << 8 | Int(input.byte())) % body.count
        guard !Self.unauthenticated.contains(place) else { return }
        body[place] ^= 1 << (input.byte() % 8)
        try promise(
            (try? decryptor.decrypt(body, for: recipient)) == nil, "a body is read whose byte \(place) was changed")
    }

    /// A browser whose keys are the same in every run.
    private static let recipient: RecipientKeyPair? = {
        guard let keyPair = try? P256KeyPair(rawScalar: Array(1...32)) else { return nil }
        return try? RecipientKeyPair(keyPair: keyPair, authenticationSecret: Array(1...16))
    }()
}
