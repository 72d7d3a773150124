import Hashing

/// The target of a message.
public struct MessageTarget: Hashable, Sendable {
    /// The kind of address.
    public enum Kind: String, Sendable, CaseIterable {
        /// A registration token.
        case token
        /// A Firebase installation identifier.
        case fid
        /// The subscribers of a topic.
        case topic
        /// The subscribers that a condition over topics selects.
        case condition

        /// Whether the address is one of a single device.
        var isDevice: Bool { self == .token || self == .fid }
    }

    /// The kind of address.
    public var kind: Kind
    /// The address.
    public var value: String

    /// Names a target.
    public init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
    }
}

/// The parts of a message that a simulator checks after the message was read against the schema.
struct DecodedMessage {
    /// Whether the request asks only whether the message would be accepted.
    let isValidateOnly: Bool
    /// The target; nil if the message has none.
    let target: MessageTarget?
    /// The message, with `snake_case` names.
    let node: GoogleJSON

    /// Takes a request apart.
    ///
    /// - Parameter request: as `MessageDecoder` gives it.
    init(_ request: GoogleJSON) {
        isValidateOnly = request["validate_only"] == .bool(true)
        node = request["message"] ?? .object([])
        let node = node
        target =
            MessageTarget.Kind.allCases.lazy.compactMap { kind in
                node[kind.rawValue]?.text.map { MessageTarget(kind, $0) }
            }.first
    }

    /// The part for Android.
    var android: GoogleJSON? { node["android"] }

    /// The data that an Android device gets: its own come first.
    var data: [GoogleJSON.Member] { (android?["data"] ?? node["data"])?.members ?? [] }

    /// The key by which a later message takes its place; nil if there is none.
    var collapseKey: String? { android?["collapse_key"]?.text }

    /// How long it is kept for a device that is away, as the request says it.
    var ttl: String? { android?["ttl"]?.text }

    /// `NORMAL` or `HIGH`; nil if the request does not say.
    var priority: String? { android?["priority"]?.text }

    /// Whether a later message may take its place: all that show something, and all with a key (FCM, "Message types").
    var isCollapsible: Bool {
        collapseKey != nil || node["notification"] != nil || android?["notification"] != nil
    }

    /// 128 bits that follow from target and content, so that a repetition has the same.
    ///
    /// Left out is what a repetition may change: how long the message is kept, and how urgent it is.
    var identity: UInt128 {
        var digest = WordDigest()
        digest.mix(target.map { $0.kind.rawValue } ?? "")
        digest.mix(target?.value ?? "")
        for part in [
            node["data"], node["notification"], android?["data"], android?["notification"],
            node["apns"]?["payload"], node["webpush"]?["data"], node["webpush"]?["notification"],
        ] {
            (part ?? .null).mix(into: &digest)
        }
        digest.finish()
        return UInt128(digest.high) << 64 | UInt128(digest.low)
    }
}

extension GoogleJSON {
    /// Adds the value to a digest, the members of objects in the order of their names.
    fileprivate func mix(into digest: inout WordDigest) {
        switch self {
        case .object(let members):
            digest.mix(word: UInt64(members.count))
            for member in members.sorted(by: { $0.name < $1.name }) {
                digest.mix(member.name)
                member.value.mix(into: &digest)
            }
        case .array(let elements):
            digest.mix(word: UInt64(elements.count))
            for element in elements { element.mix(into: &digest) }
        default: digest.mix(compact)
        }
    }
}
