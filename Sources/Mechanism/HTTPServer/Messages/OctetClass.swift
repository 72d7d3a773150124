/// The classes of octets that HTTP's grammar is made of (RFC 9110 section 5.6.2, RFC 5234 appendix B.1).
enum OctetClass {
    static let carriageReturn = UInt8(ascii: "\r")
    static let lineFeed = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)

    /// Whether an octet may stand in a token: a method or the name of a field.
    static func isToken(_ octet: UInt8) -> Bool { isDigit(octet) || isLetter(octet) || tokenMarks.contains(octet) }

    /// Whether an octet may stand in the value of a field, blanks included.
    static func isFieldContent(_ octet: UInt8) -> Bool { octet >= 0x20 && octet != 0x7F || octet == tab }

    /// Whether an octet is a printable character of ASCII, and no blank.
    static func isVisible(_ octet: UInt8) -> Bool { (0x21...0x7E).contains(octet) }

    /// Whether an octet is a blank that may stand around values.
    static func isBlank(_ octet: UInt8) -> Bool { octet == space || octet == tab }

    static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

    static func isLetter(_ octet: UInt8) -> Bool { (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet) }

    /// Whether a text is a word of ASCII in any case, byte by byte: of Unicode, other letters become the same in lower
    /// case.
    static func isWord(_ text: some StringProtocol, _ word: StaticString) -> Bool {
        let lower = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return word.withUTF8Buffer { $0.elementsEqual(lower) }
    }
}
