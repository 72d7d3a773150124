import Crypto
import EncryptedContent
import Essentials
import PushServiceSimulator

/// The subscriptions of one origin, which follow from a seed: none is kept, so there may be millions.
///
/// Each secret is an HMAC of its name with the seed as the key. The number of a subscription stands, masked, at the
/// beginning of the secret part of its endpoint; the rest proves that the endpoint is one of ours.
struct SubscriptionDirectory: Sendable {
    /// The largest number of subscriptions: as many as seven digits can name.
    static let countMaximum = 10_000_000

    /// The name of the origin.
    let originName: String
    /// The service, which determines the form of the endpoints.
    let profile: ServiceProfile
    /// How many subscriptions there are.
    let count: Int

    private let key: [UInt8]
    private let mask: UInt32

    /// Describes the subscriptions of an origin; the same name and seed give the same ones.
    init(originName: String, profile: ServiceProfile, count: Int, seed: UInt64) {
        self.originName = originName
        self.profile = profile
        self.count = count
        let seedBytes = (0..<8).map { UInt8(truncatingIfNeeded: seed >> (8 * UInt64($0))) }
        key = MessageAuthentication.code(of: Array(originName.utf8), key: seedBytes)
        mask = Self.number(MessageAuthentication.code(of: Array("mask".utf8), key: key))
    }

    /// The name of a subscription in records, scripts and faults.
    func id(_ index: Int) -> String {
        let digits = String(index)
        return originName + "-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }

    /// The path of a subscription's endpoint.
    func path(_ index: Int) -> String {
        var secret: [UInt8] = []
        let masked = UInt32(truncatingIfNeeded: index) ^ mask
        for shift: UInt32 in [24, 16, 8, 0] { secret.append(UInt8(truncatingIfNeeded: masked >> shift)) }
        var block = 0
        while 4 * secret.count < 3 * profile.secretCharacters + 4 {
            secret += code("endpoint", index, block)
            block += 1
        }
        return profile.path(secret: String(Base64URL.encode(secret).prefix(profile.secretCharacters)))
    }

    /// The number of the subscription that an endpoint belongs to; nil if there is none.
    func index(ofPath path: String) -> Int? {
        let path = profile.normalized(path)
        guard let text = profile.secretBeginning(ofPath: path), text.count == 8, let bytes = Base64URL.decode(text)
        else { return nil }
        let index = Int(Self.number(bytes) ^ mask)
        return index < count && self.path(index) == path ? index : nil
    }

    /// The keys of a subscription, the secret half among them.
    ///
    /// - Throws: `SimulatorError` (`keyInvalid`) if OpenSSL has no memory left.
    func recipient(_ index: Int) throws(SimulatorError) -> RecipientKeyPair {
        let secret = Array(code("auth", index, 0).prefix(RecipientKeys.authenticationSecretBytes))
        // A text of 32 bytes is no scalar once in four thousand million times; then the next one is tried.
        for attempt in 0..<4 {
            guard let pair = try? P256KeyPair(rawScalar: code("key", index, attempt)) else { continue }
            if let recipient = try? RecipientKeyPair(keyPair: pair, authenticationSecret: secret) { return recipient }
        }
        throw SimulatorError(.keyInvalid, "the keys of subscription \(id(index)) cannot be made")
    }

    /// A subscription as its browser hands it out.
    ///
    /// - Parameters:
    ///   - index: its number.
    ///   - origin: the address of the origin.
    /// - Returns: the subscription.
    /// - Throws: `SimulatorError` (`keyInvalid`) if OpenSSL has no memory left.
    func subscription(_ index: Int, origin: String) throws(SimulatorError) -> SimulatedSubscription {
        let keys = try recipient(index).publicKeys
        return SimulatedSubscription(
            id: id(index), endpoint: origin + path(index), p256dh: Base64URL.encode(keys.publicPoint),
            auth: Base64URL.encode(keys.authenticationSecret))
    }

    private func code(_ label: String, _ index: Int, _ block: Int) -> [UInt8] {
        MessageAuthentication.code(of: Array("\(label) \(index) \(block)".utf8), key: key)
    }

    /// The number that the first four bytes are.
    private static func number(_ bytes: [UInt8]) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
