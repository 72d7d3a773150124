extension String {
    /// The text as a terminal may show it: every unprintable character is escaped as in JSON.
    ///
    /// The escaped characters are control characters (also those of C1, which some terminals obey in UTF-8), separators
    /// of lines and paragraphs, and format characters, for example those that reverse the text. The zero-width joiner
    /// and non-joiner stay, because scripts and emoji need them. In a document of JSON only strings hold such
    /// characters, so it still says the same.
    ///
    /// - Parameter keepsLayout: whether line feeds and tabs stay: for a text of several lines that this program wrote.
    /// - Returns: the text, which is the same if nothing had to be escaped.
    public func printable(keepsLayout: Bool = false) -> String {
        guard !utf8.allSatisfy({ byte in (0x20...0x7e).contains(byte) }) else { return self }
        var text = ""
        text.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            if keepsLayout && (scalar == "\n" || scalar == "\t") || scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += scalar.escape
            }
        }
        return text
    }

    /// The text, or its beginning and an ellipsis if it has more bytes of UTF-8 than a limit; no character is cut.
    public func shortened(bytesMaximum: Int) -> String {
        guard utf8.count > bytesMaximum else { return self }
        var end = utf8.index(startIndex, offsetBy: max(bytesMaximum, 0))
        // Back to where a whole scalar ends.
        while String.Index(end, within: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end]) + "…"
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may get the character unescaped.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        // Zero-width non-joiner and joiner.
        case .format: value == 0x200c || value == 0x200d
        default: true
        }
    }

    /// As JSON escapes it (RFC 8259 §7): beyond the first plane by its two surrogates.
    fileprivate var escape: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default:
            String(self).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }
}
