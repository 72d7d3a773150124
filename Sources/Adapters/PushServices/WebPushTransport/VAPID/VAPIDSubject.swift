import Essentials

/// The claim `sub` of tokens: how a push service reaches the operator of this sender (RFC 8292 section 2.1).
///
/// The RFC recommends it, and Apple's service demands one that is plausible: it answers 403 `BadJwtToken` to a host
/// such as `localhost` or one below `.local` or `.invalid`, and to a space after `mailto:` (the issues 947 and 988 of
/// web-push, 338 of sygnal, 175 of pywebpush). Each push would fail, so such a subject is refused when it is read.
public struct VAPIDSubject: Sendable, Hashable, CustomStringConvertible {
    /// The claim: a URI that begins with `mailto:` or `https:`, in characters that need no escape in JSON.
    public let text: String

    /// The longest one that is taken, in bytes: it goes out with each push.
    private static let bytesMaximum = 256
    /// Names that no public host has (RFC 6761 section 6, RFC 6762 section 3).
    private static let reservedTopLevels: Set<Substring> = ["localhost", "local", "invalid", "test", "example"]

    /// Checks a subject.
    ///
    /// - Parameter text: for example `mailto:push@example.com` or `https://example.com/contact`.
    /// - Throws: `VAPIDError` with `subjectInvalid`, which says which rule it breaks.
    public init(_ text: String) throws(VAPIDError) {
        if let problem = Self.problem(of: text) {
            let shown = text.shortened(bytesMaximum: 80).printable()
            throw VAPIDError(
                .subjectInvalid,
                "the VAPID subject \"\(shown)\" cannot be used: \(problem); "
                    + "give an address at which push services reach you, for example mailto:push@example.com")
        }
        self.text = text
    }

    /// The subject.
    public var description: String { text }

    private static func problem(of text: String) -> String? {
        guard !text.isEmpty else { return "it is empty, and Apple's service refuses tokens without it" }
        guard text.utf8.count <= bytesMaximum else { return "it has more than \(bytesMaximum) bytes" }
        guard !text.utf8.contains(where: { $0 == 0x20 || (0x09...0x0D).contains($0) }) else {
            return "it contains white space, which Apple's service refuses"
        }
        guard text.utf8.allSatisfy(isURICharacter) else {
            return "it contains a character that a URI cannot have (RFC 3986), or has to write as %XX"
        }
        if text.hasPrefix("mailto:") { return problem(ofMailbox: text.dropFirst("mailto:".count)) }
        if text.hasPrefix("https://") {
            let authority = text.dropFirst("https://".count).prefix { !"/?#".contains($0) }
            return problem(ofAuthority: authority)
        }
        return "it begins neither with mailto: nor with https:// (RFC 8292 section 2.1)"
    }

    private static func problem(ofMailbox mailbox: Substring) -> String? {
        let parts = mailbox.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !mailbox.contains(where: { ",?/".contains($0) }) else {
            return "mailto: is not followed by exactly one mail address"
        }
        return problem(ofHost: parts[1])
    }

    private static func problem(ofAuthority authority: Substring) -> String? {
        guard !authority.contains("@") else { return "a user before the host has no place in it" }
        guard !authority.hasPrefix("[") else { return "its host is an address; it must be a name" }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count < 2 || UInt16(parts[1]) != nil else { return "its port is no number up to 65535" }
        return problem(ofHost: parts.first ?? "")
    }

    private static func problem(ofHost host: Substring) -> String? {
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel), let topLevel = labels.last else {
            return "its host is no DNS name"
        }
        guard !reservedTopLevels.contains(topLevel) else {
            return "its host \(host) is reserved (.\(topLevel)) and cannot be reached, so Apple's service refuses it"
        }
        guard labels.count > 1 else { return "its host \(host) is known in a local network only" }
        guard !topLevel.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "its host is an address; it must be a name"
        }
        return nil
    }

    /// Letters, digits and hyphens (RFC 1123 section 2.1).
    private static func isLabel(_ label: Substring) -> Bool {
        let isRight = label.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
        }
        return isRight && (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
    }

    /// The reserved and unreserved characters and the percent sign (RFC 3986 section 2).
    private static func isURICharacter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
    }
}
