import Crypto
import Essentials
import Notifications
import RegistryCore
import Synchronization

/// Makes the secrets and the tokens of clients that fetch their notifications, and recognises them by the key of the
/// servers, without a look into the registry.
///
/// A token has 24 bytes that follow from the secret, and 8 that prove that it was given out. So a token in the registry
/// does not tell its secret, and a made-up token is refused. A token that a client registers again, even after its
/// device was removed, is never taken for one of APNs.
struct CourierTokens: Sendable {
    private static let halfCount = 16
    private static let hashCount = 24
    private static let checkCount = 8

    private let key: [UInt8]

    init(_ key: CourierKey) { self.key = key.bytes }

    // MARK: Secrets

    /// A new secret, from the system's random numbers.
    func randomSecret() -> CourierSecret {
        secret(nonce: (0..<Self.halfCount).map { _ in UInt8.random(in: 0...255) })
    }

    /// The secret of a client that names itself, which is always the same.
    ///
    /// - Parameters:
    ///   - clientID: the client's own name.
    ///   - environment: the environment that it asks for, which is a part of its name.
    ///   - user: the user.
    ///   - app: its app.
    /// - Returns: the secret.
    func secret(clientID: String, environment: String, user: String, app: String) -> CourierSecret {
        // The lengths keep a user's name that goes on like an identifier from meaning another client.
        let name = "\(app)\n\(environment)\n\(user.utf8.count) \(clientID.utf8.count)\n\(user)\(clientID)"
        return secret(nonce: Array(code("apus courier client\n", Array(name.utf8)).prefix(Self.halfCount)))
    }

    /// The secret that a text shows; nil if we never gave it out.
    func secret(_ text: String) -> CourierSecret? {
        guard let bytes = Base64URL.decode(text), bytes.count == 2 * Self.halfCount else { return nil }
        let secret = secret(nonce: Array(bytes.prefix(Self.halfCount)))
        return MessageAuthentication.isEqual(secret.bytes, bytes) ? secret : nil
    }

    private func secret(nonce: [UInt8]) -> CourierSecret {
        CourierSecret(bytes: nonce + code("apus courier secret\n", nonce).prefix(Self.halfCount))
    }

    // MARK: Tokens

    /// The token of the device whose client has a secret.
    func token(of secret: CourierSecret) -> DeviceToken {
        let hash = Array(SHA256Digest.digest(Array("apus courier token\n".utf8) + secret.bytes).prefix(Self.hashCount))
        guard let token = DeviceToken(bytes: hash + check(hash)) else {
            preconditionFailure("a token may have \(Self.hashCount + Self.checkCount) bytes")
        }
        return token
    }

    /// Whether we gave out a token.
    func gaveOut(_ token: DeviceToken) -> Bool {
        guard token.bytes.count == Self.hashCount + Self.checkCount else { return false }
        let hash = Array(token.bytes.prefix(Self.hashCount))
        return MessageAuthentication.isEqual(check(hash), Array(token.bytes.suffix(Self.checkCount)))
    }

    private func check(_ hash: [UInt8]) -> [UInt8] {
        Array(code("apus courier token check\n", hash).prefix(Self.checkCount))
    }

    /// The labels make a code for one purpose worthless for another; no label is the prefix of another.
    private func code(_ label: StaticString, _ bytes: [UInt8]) -> [UInt8] {
        MessageAuthentication.code(of: Array("\(label)".utf8) + bytes, key: key)
    }
}

/// The secret part of a client's URL: its holder may fetch the client's notifications.
///
/// The registry keeps only the device's token, from which the secret does not follow without its `clientId`.
struct CourierSecret: Hashable, Sendable {
    /// 16 bytes that are random, or follow from the client's name, and 16 bytes that prove that we gave them out.
    let bytes: [UInt8]

    /// The secret in a URL.
    var text: String { Base64URL.encode(bytes) }
}

/// The configured address of this server for its clients; a request's own claim does not count.
///
/// A request can name any host, and the URL that a client gets is a secret that must lead nowhere else.
final class CourierAddress: Sendable {
    private let publicURL: String?
    private let loopbackOrigin: String?
    private let port: Atomic<UInt16>

    init(_ configuration: RegistryServerConfiguration) {
        publicURL = configuration.publicURL
        let scheme = configuration.identity == nil ? "http" : "https"
        loopbackOrigin = Self.loopbackHost(configuration.host).map { "\(scheme)://\($0)" }
        port = Atomic(configuration.port)
    }

    /// Notes the port, which the system may have chosen.
    func listens(on port: UInt16) { self.port.store(port, ordering: .relaxed) }

    /// The URL without a slash at its end, for example `https://push.example.com`.
    ///
    /// Without a public URL it is the listening address, if only this machine can reach that; else nil.
    var base: String? {
        publicURL ?? loopbackOrigin.map { "\($0):\(port.load(ordering: .relaxed))" }
    }

    private static func loopbackHost(_ host: String) -> String? {
        if host == "::1" { return "[::1]" }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return host == "localhost" || isAddress && parts[0] == "127" ? host : nil
    }
}
