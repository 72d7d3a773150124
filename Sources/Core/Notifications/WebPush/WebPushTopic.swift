internal import Essentials
internal import Hashing

/// The field `Topic`: pushes of the same topic replace each other while the push service stores them.
///
/// A topic has at most 32 characters of the base64url alphabet (RFC 8030 section 5.4). Apple's service decodes it, so
/// its length must be one that base64 can have, and not 1 more than a multiple of 4. Google's service slows down
/// topics of one subscription: a burst of about 20, then one in three minutes.
enum WebPushTopic {
    /// 18 bytes are 24 characters: long enough that topics differ, and a length that every service takes.
    private static let digestBytes = 18

    /// The topic for a collapse identifier: the beginning of its SHA-256 digest, 24 characters.
    ///
    /// All workers derive the same. The service sees no name, but could guess one from a list of names.
    static func topic(_ collapseID: String) -> String {
        Base64URL.encode(Array(SHA256.digest(of: Array(collapseID.utf8)).prefix(digestBytes)))
    }
}

extension PushPriority {
    /// The value of the field `Urgency` (RFC 8030 section 5.3), as a constant.
    public var webPushUrgency: StaticString {
        switch self {
        case .immediate: "high"
        case .conserving: "normal"
        case .passive: "low"
        }
    }
}
