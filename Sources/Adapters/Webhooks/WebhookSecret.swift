internal import Crypto
internal import Essentials

/// A secret that requests to an app's backend are signed with, in the form of Standard Webhooks: `whsec_` and base64.
///
/// It prints as `[redacted]`, and nothing of it reaches a log.
public struct WebhookSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// How the text of a secret begins.
    public static let prefix = "whsec_"
    /// How many bytes a secret has.
    public static let byteCounts = 24...64
    /// The expected form of a secret, for messages.
    public static let expected =
        "whsec_ and the base64 of 24 to 64 random bytes, for example from: echo whsec_$(openssl rand -base64 32)"

    private let key: [UInt8]

    /// Reads a secret; nil if the text is none.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Base64.decodeStrictly(String(text.dropFirst(Self.prefix.count))),
            Self.byteCounts.contains(key.count)
        else { return nil }
        self.key = key
    }

    /// The signature of a request: `v1,` and the base64 of the HMAC with SHA-256 of `ID.TIMESTAMP.BODY`.
    ///
    /// - Parameters:
    ///   - identifier: the header `webhook-id`.
    ///   - timestampSeconds: the header `webhook-timestamp`.
    ///   - body: the body, byte for byte.
    /// - Returns: one word of the header `webhook-signature`.
    func signature(identifier: String, timestampSeconds: Int64, body: [UInt8]) -> String {
        let message = Array("\(identifier).\(timestampSeconds).".utf8) + body
        return "v1," + Base64.encode(MessageAuthentication.code(of: message, key: key))
    }

    /// `[redacted]`.
    public var description: String { "[redacted]" }
    /// `[redacted]`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
