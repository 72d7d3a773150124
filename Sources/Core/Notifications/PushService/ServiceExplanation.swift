import Essentials
public import JSON

/// Makes of what a push service says about a refusal a sentence that logs and dead letters may show.
///
/// A service may say anything, and a browser's push service may be a stranger's. So an explanation is short, on one
/// line and printable, and no secret or token stands whole in it.
public enum ServiceExplanation {
    /// The longest explanation, in bytes of UTF-8 without the ellipsis of one that is cut.
    public static let bytesMaximum = 300
    /// The members of JSON that hold a sentence, in the order in which they are looked for.
    ///
    /// Sources: google.rpc.Status (`message`), autopush's errors (`message`, `error`), RFC 6749 section 5.2
    /// (`error_description`), RFC 9457 section 3.1 (`detail`, `title`).
    private static let members: [StaticString] = [
        "message", "error_description", "detail", "description", "title", "error",
    ]
    /// From so many characters on, a word may be a secret: device tokens, access tokens and signatures are longer.
    private static let wordLengthMaximum = 31
    /// The same for a word of hexadecimal digits.
    private static let hexadecimalLengthMaximum = 15
    /// How much of such a word is kept.
    private static let keptLength = 8

    /// The longest reason of a service's own that is kept, in bytes: more is not a word.
    private static let reasonBytesMaximum = 64

    /// Makes a reason of a word that is not known: cut, and without unprintable characters.
    public static func reason(_ word: some Collection<UInt8>) -> String {
        String(decoding: word.prefix(reasonBytesMaximum).filter { $0 > 0x20 && $0 < 0x7f }, as: UTF8.self)
    }

    /// Makes an explanation of a text.
    ///
    /// - Parameter text: of any length; its beginning is looked at.
    /// - Returns: the explanation; nil for a text without a letter.
    public static func text(_ text: some StringProtocol) -> String? {
        var words = ""
        var isAfterSpace = true
        // An unprintable character takes six bytes when it is escaped, and white space is folded.
        for scalar in text.unicodeScalars.prefix(4 * bytesMaximum) {
            let isSpace = scalar.properties.isWhitespace || scalar.value < 0x20
            if isSpace, isAfterSpace { continue }
            words.unicodeScalars.append(isSpace ? " " : scalar)
            isAfterSpace = isSpace
        }
        if words.hasSuffix(" ") { words.removeLast() }
        guard words.unicodeScalars.contains(where: \.properties.isAlphabetic) else { return nil }
        return withoutSecrets(words).printable().shortened(bytesMaximum: bytesMaximum)
    }

    /// Finds the explanation in the body of an answer.
    ///
    /// It is the sentence of a JSON document, the title of a page, or the text as it is.
    ///
    /// - Parameters:
    ///   - body: the body.
    ///   - parsed: the same as JSON; nil if it is none.
    ///   - reason: the reason that was read from it; a document that says nothing else explains nothing.
    /// - Returns: the explanation; nil if there is none.
    public static func body(_ body: [UInt8], _ parsed: JSONValue?, reason: String) -> String? {
        guard !body.isEmpty else { return nil }
        if let parsed, let sentence = sentence(in: parsed) { return sentence == reason ? nil : text(sentence) }
        if parsed != nil, !reason.isEmpty { return nil }
        let page = String(decoding: body, as: UTF8.self)
        return text(title(of: page) ?? page[...])
    }

    private static func sentence(in value: JSONValue) -> String? {
        for member in members {
            guard let found = value[member] else { continue }
            if let text = found.string { return text }
            if found.kind == .object, let text = sentence(in: found) { return text }
        }
        return nil
    }

    /// The title of a page of HTML; nil if the text is none, or has none.
    private static func title(of page: String) -> Substring? {
        guard page.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else { return nil }
        for (begin, end) in [("<title>", "</title>"), ("<h1>", "</h1>"), ("<TITLE>", "</TITLE>"), ("<H1>", "</H1>")] {
            guard let start = page.firstRange(of: begin)?.upperBound,
                let stop = page[start...].firstRange(of: end)?.lowerBound
            else { continue }
            return page[start..<stop]
        }
        return nil
    }

    /// The text in which words that may be secrets are cut.
    private static func withoutSecrets(_ text: String) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        for byte in text.utf8 {
            if isPartOfWord(byte) {
                word.append(byte)
            } else {
                append(word, to: &result)
                word.removeAll(keepingCapacity: true)
                result.append(byte)
            }
        }
        append(word, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    private static func append(_ word: [UInt8], to result: inout [UInt8]) {
        guard isSecret(word) else { return result.append(contentsOf: word) }
        result.append(contentsOf: word.prefix(keptLength))
        result.append(contentsOf: "…".utf8)
    }

    private static func isSecret(_ word: [UInt8]) -> Bool {
        guard word.count > hexadecimalLengthMaximum else { return false }
        if word.allSatisfy({ HexadecimalDigits.value(of: $0) != nil }) { return true }
        // A code such as CONSUMER_PROJECT_WITHOUT_BILLING_ACCOUNT is none.
        return word.count > wordLengthMaximum && !word.allSatisfy { (65...90).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// Whether a byte occurs within tokens of push services, JSON Web Tokens and base64.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "="),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

extension DeviceToken {
    /// Shortens the token in a text, however short it is.
    ///
    /// Of an endpoint, what follows the host is the secret.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - platform: the platform of the token, which decides how it is written.
    /// - Returns: the text, in which the token does not stand whole.
    public func hidden(in text: String, for platform: Platform) -> String {
        let written = self.text(for: platform)
        var secrets = [written]
        if platform == .webPush {
            let path = written.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).last.map(
                String.init)
            if let path, path.utf8.count >= 8, path != written { secrets.append(path) }
        }
        return secrets.reduce(text) { $0.replacing($1, with: excerpt(for: platform)) }
    }
}
