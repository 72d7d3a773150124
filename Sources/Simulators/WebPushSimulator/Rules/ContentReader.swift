import EncryptedContent
import PushServiceSimulator

/// The content of a push, decrypted as its browser would.
struct DecryptedContent {
    /// The decrypted content; nil if it cannot be read, or there is none.
    var plaintext: [UInt8]?
    /// Why the browser could not read it; nil if it can.
    var problem: WebPushRefusal?
    /// Whether the salt or the sender's key had been used before.
    var isReused = false
}

/// Reads contents on one loop, and watches over what may be used only once.
final class ContentReader {
    private static let recipientsMaximum = 1 << 16

    private let directory: SubscriptionDirectory
    private let once: UsedOnce
    private let decryptor: MessageDecryptor
    private var recipients: [Int: RecipientKeyPair] = [:]

    /// Makes a reader.
    ///
    /// - Throws: `EncryptedContentError` if OpenSSL has no memory left.
    init(_ directory: SubscriptionDirectory, once: UsedOnce) throws(EncryptedContentError) {
        self.directory = directory
        self.once = once
        decryptor = try MessageDecryptor()
    }

    /// Decrypts a body.
    ///
    /// - Parameters:
    ///   - body: the body of a request, not empty.
    ///   - index: the number of the subscription.
    ///   - signingKey: the point of the VAPID key, which must not encrypt.
    /// - Returns: the content, or what is wrong with it.
    func read(_ body: [UInt8], for index: Int, signingKey: [UInt8]?) -> DecryptedContent {
        var isReused = false
        do {
            let header = try ContentHeader(of: body)
            isReused = once.isReused(salt: header.salt, senderPoint: header.senderPoint)
            guard header.senderPoint != signingKey else {
                return DecryptedContent(problem: .keyReused, isReused: isReused)
            }
            return DecryptedContent(plaintext: try decrypt(body, for: index), isReused: isReused)
        } catch let error as EncryptedContentError {
            let isForm = error.code != .authenticationFailed && error.code != .paddingInvalid
            return DecryptedContent(problem: isForm ? .contentInvalid : .contentUnreadable, isReused: isReused)
        } catch {
            return DecryptedContent(problem: .internalError)
        }
    }

    private func decrypt(_ body: [UInt8], for index: Int) throws -> [UInt8] {
        if let recipient = recipients[index] { return try decryptor.decrypt(body, for: recipient) }
        if recipients.count >= Self.recipientsMaximum { recipients.removeAll(keepingCapacity: true) }
        let recipient = try directory.recipient(index)
        recipients[index] = recipient
        return try decryptor.decrypt(body, for: recipient)
    }
}

/// The salts and senders' keys of all messages, none of which may come twice (RFC 8188 §4.1, RFC 8291 §3.1).
///
/// As many as `AcceptedIdentifiers` keeps are remembered.
final class UsedOnce: Sendable {
    private let salts = AcceptedIdentifiers()
    private let keys = AcceptedIdentifiers()

    /// Notes a message, and says whether its salt or its key had come before.
    func isReused(salt: [UInt8], senderPoint: [UInt8]) -> Bool {
        let isNewSalt = salts.insert(salt.reduce(0) { $0 << 8 | UInt128($1) })
        let isNewKey = keys.insert(KeyBindings.identity(senderPoint))
        return !(isNewSalt && isNewKey)
    }
}
