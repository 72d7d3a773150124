import Essentials

/// Reads JSON from front to back without building anything (RFC 8259).
///
/// The simulator has a reader of its own, so that it never accepts a payload only because the code under test wrote it
/// with the same library. Checking a payload must also cost less than sending one costs the client.
public struct JSONReader {
    /// The bytes are no JSON, or not the JSON that was asked for.
    public struct Malformed: Error {
        /// Says so.
        public init() {}
    }

    /// How many objects and arrays may be open at once.
    static let depthMaximum = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var isFirstMember = true

    /// Starts at the first byte, which must stay valid while the reader is used.
    ///
    /// - Throws: `Malformed` if the bytes are not UTF-8.
    public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(Malformed) {
        self.bytes = bytes
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw Malformed()
        }
    }

    /// The first byte of the next value, or nil at the end.
    public var nextByte: UInt8? {
        mutating get {
            while position < bytes.count {
                let byte = bytes[position]
                guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
                position += 1
            }
            return nil
        }
    }

    /// Steps into an object.
    public mutating func enterObject() throws(Malformed) {
        try take(UInt8(ascii: "{"))
        isFirstMember = true
    }

    /// Steps to the next member of the object that was entered, or out of the object.
    ///
    /// - Returns: the bytes between the quotes of the key, escapes as they are, or nil if the object has ended. The
    ///   caller reads the value before it asks for the next key.
    public mutating func nextKey() throws(Malformed) -> UnsafeBufferPointer<UInt8>? {
        let byte = nextByte
        if byte == UInt8(ascii: "}") {
            position += 1
            isFirstMember = false
            return nil
        }
        if !isFirstMember { try take(UInt8(ascii: ",")) }
        isFirstMember = false
        let key = try readRawString()
        try take(UInt8(ascii: ":"))
        return key
    }

    /// As `nextKey`, with the escapes of the key undone.
    public mutating func nextName() throws(Malformed) -> String? {
        guard let raw = try nextKey() else { return nil }
        return try Self.text(of: raw)
    }

    /// Reads a string and gives the bytes between its quotes, escapes as they are.
    public mutating func readRawString() throws(Malformed) -> UnsafeBufferPointer<UInt8> {
        try take(UInt8(ascii: "\""))
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return UnsafeBufferPointer(rebasing: bytes[start..<position - 1])
            case UInt8(ascii: "\\"): try skipEscape()
            case 0..<0x20: throw Malformed()
            default: position += 1
            }
        }
        throw Malformed()
    }

    /// Reads a string that needs no escapes, as names and identifiers do.
    public mutating func readPlainString() throws(Malformed) -> String {
        let raw = try readRawString()
        guard !raw.contains(UInt8(ascii: "\\")) else { throw Malformed() }
        return String(decoding: raw, as: UTF8.self)
    }

    /// Reads a string with any escapes.
    public mutating func readText() throws(Malformed) -> String {
        try Self.text(of: try readRawString())
    }

    /// Reads a whole number that fits 64 bits.
    public mutating func readInteger() throws(Malformed) -> Int64 {
        guard let value = Int64(try readNumberText()) else { throw Malformed() }
        return value
    }

    /// Reads any number, as its digits stand there.
    public mutating func readNumberText() throws(Malformed) -> String {
        _ = nextByte
        let start = position
        try skipNumber()
        isFirstMember = false
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads `true`, `false` or `null`.
    public mutating func readWord(_ word: StaticString) throws(Malformed) {
        _ = nextByte
        try skipWord(word)
        isFirstMember = false
    }

    /// Steps into an array.
    public mutating func enterArray() throws(Malformed) {
        try take(UInt8(ascii: "["))
        isFirstMember = true
    }

    /// Steps to the next element of the array that was entered, or out of the array.
    ///
    /// - Returns: whether there is one; the caller reads it before it asks for the next.
    public mutating func nextElement() throws(Malformed) -> Bool {
        if nextByte == UInt8(ascii: "]") {
            position += 1
            isFirstMember = false
            return false
        }
        if !isFirstMember { try take(UInt8(ascii: ",")) }
        isFirstMember = false
        guard nextByte != UInt8(ascii: "]") else { throw Malformed() }
        return true
    }

    /// Steps over one value of any kind and checks all of it.
    public mutating func skipValue() throws(Malformed) { try skipValue(depth: 0) }

    /// Reads an object of plain strings and whole numbers.
    ///
    /// - Parameters:
    ///   - bytes: the object.
    ///   - texts: the names of the strings.
    ///   - numbers: the names of the numbers.
    /// - Returns: the members by their names, the last one where there are several, and the last other name.
    /// - Throws: `Malformed` if it is no object, or a member of these names is of another kind.
    public static func members(
        of bytes: [UInt8], texts: Set<String>, numbers: Set<String>
    ) throws(Malformed) -> (texts: [String: String], numbers: [String: Int64], unknownName: String?) {
        try bytes.withUnsafeBufferPointer { bytes throws(Malformed) in
            var found: (texts: [String: String], numbers: [String: Int64], unknownName: String?) = ([:], [:], nil)
            var reader = try JSONReader(bytes)
            try reader.enterObject()
            while let key = try reader.nextKey() {
                let name = String(decoding: key, as: UTF8.self)
                if texts.contains(name) {
                    found.texts[name] = try reader.readPlainString()
                } else if numbers.contains(name) {
                    found.numbers[name] = try reader.readInteger()
                } else {
                    found.unknownName = name
                    try reader.skipValue()
                }
            }
            try reader.readEnd()
            return found
        }
    }

    /// Checks that nothing but white space is left.
    public mutating func readEnd() throws(Malformed) {
        guard nextByte == nil else { throw Malformed() }
    }

    private mutating func take(_ byte: UInt8) throws(Malformed) {
        guard nextByte == byte else { throw Malformed() }
        position += 1
    }

    private mutating func skipValue(depth: Int) throws(Malformed) {
        guard depth < Self.depthMaximum else { throw Malformed() }
        switch nextByte {
        case UInt8(ascii: "\""): _ = try readRawString()
        case UInt8(ascii: "{"): try skipObject(depth: depth)
        case UInt8(ascii: "["): try skipArray(depth: depth)
        case UInt8(ascii: "t"): try skipWord("true")
        case UInt8(ascii: "f"): try skipWord("false")
        case UInt8(ascii: "n"): try skipWord("null")
        default: try skipNumber()
        }
        isFirstMember = false
    }

    private mutating func skipObject(depth: Int) throws(Malformed) {
        try enterObject()
        while try nextKey() != nil { try skipValue(depth: depth + 1) }
    }

    private mutating func skipArray(depth: Int) throws(Malformed) {
        try enterArray()
        while try nextElement() { try skipValue(depth: depth + 1) }
    }

    private mutating func skipWord(_ word: StaticString) throws(Malformed) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            UnsafeBufferPointer(rebasing: bytes[position..<end]).matches(word)
        else { throw Malformed() }
        position = end
    }

    private mutating func skipEscape() throws(Malformed) {
        position += 1
        guard position < bytes.count else { throw Malformed() }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let digits = bytes.dropFirst(position + 1).prefix(4)
            guard digits.count == 4, digits.allSatisfy({ HexadecimalDigits.value(of: $0) != nil }) else {
                throw Malformed()
            }
            position += 5
        default: throw Malformed()
        }
    }

    private mutating func skipNumber() throws(Malformed) {
        _ = takeIf(UInt8(ascii: "-"))
        if !takeIf(UInt8(ascii: "0")) { try skipDigits() }
        if takeIf(UInt8(ascii: ".")) { try skipDigits() }
        if takeIf(UInt8(ascii: "e")) || takeIf(UInt8(ascii: "E")) {
            if !takeIf(UInt8(ascii: "+")) { _ = takeIf(UInt8(ascii: "-")) }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(Malformed) {
        let start = position
        while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
        guard position > start else { throw Malformed() }
    }

    private mutating func takeIf(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private static func text(of raw: UnsafeBufferPointer<UInt8>) throws(Malformed) -> String {
        guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
        return String(decoding: try unescaped(raw), as: UTF8.self)
    }

    /// The text of a string whose escapes are known to be complete (RFC 8259, section 7).
    ///
    /// - Throws: `Malformed` for half of a surrogate pair.
    private static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) throws(Malformed) -> [UInt8] {
        var text: [UInt8] = []
        var index = 0
        func unit() -> UInt32 {
            defer { index += 6 }
            return raw[index + 2..<index + 6].reduce(0) { $0 << 4 | UInt32(HexadecimalDigits.value(of: $1) ?? 0) }
        }
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                text.append(raw[index])
                index += 1
                continue
            }
            guard raw[index + 1] == UInt8(ascii: "u") else {
                text.append(simpleEscape(raw[index + 1]))
                index += 2
                continue
            }
            var scalar = unit()
            if (0xD800..<0xDC00).contains(scalar) {
                guard index + 6 <= raw.count, raw[index] == UInt8(ascii: "\\"), raw[index + 1] == UInt8(ascii: "u")
                else {
                    throw Malformed()
                }
                let low = unit()
                guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
                scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(scalar) else { throw Malformed() }
            text.append(contentsOf: String(Character(scalar)).utf8)
        }
        return text
    }

    private static func simpleEscape(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }
}
