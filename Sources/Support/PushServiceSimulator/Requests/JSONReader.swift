import Notifications

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

    /// Reads a whole number that fits 64 bits.
    public mutating func readInteger() throws(Malformed) -> Int64 {
        _ = nextByte
        let start = position
        try skipNumber()
        guard let value = Int64(String(decoding: bytes[start..<position], as: UTF8.self)) else { throw Malformed() }
        return value
    }

    /// Steps over one value of any kind and checks all of it.
    public mutating func skipValue() throws(Malformed) { try skipValue(depth: 0) }

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
        try take(UInt8(ascii: "["))
        if nextByte == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try skipValue(depth: depth + 1)
            let byte = nextByte
            position += 1
            if byte == UInt8(ascii: "]") { return }
            guard byte == UInt8(ascii: ",") else { throw Malformed() }
        }
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
}
