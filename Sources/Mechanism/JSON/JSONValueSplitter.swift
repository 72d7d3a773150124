/// Cuts bytes into JSON values: one over many lines, several in a row, or one on each line.
///
/// It looks at brackets and strings only; whether a value is right is for its reader to say. A truncated value is
/// handed out up to its end, so that its reader can name the fault; the next value begins after it. One that breaks off
/// where a value has to follow, as behind a comma, takes the next along: its lines say how far it reaches.
public struct JSONValueSplitter {
    /// One value.
    public struct Value: Hashable, Sendable {
        /// The lines on which it begins and ends, counting from 1.
        public let lines: ClosedRange<Int>
        /// Its bytes; nil if there are too many.
        public let bytes: [UInt8]?
    }

    private let bytesMaximum: Int
    private var bytes: [UInt8] = []
    private var isTooLong = false
    private var line = 1
    private var firstLine = 1
    private var lastLine = 1
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The last byte that is no blank, outside of strings.
    private var last = UInt8(ascii: "\n")
    private var values: [Value] = []
    /// The bytes of a byte order mark that may still come, at the very beginning.
    private var markLeft = JSONParser.byteOrderMark[...]

    /// Creates a splitter.
    ///
    /// - Parameter bytesMaximum: the longest value; a longer one is not collected.
    public init(bytesMaximum: Int) { self.bytesMaximum = bytesMaximum }

    /// Adds bytes, and hands out the values that they end.
    ///
    /// A byte order mark before the first value is skipped.
    public mutating func add(_ added: ArraySlice<UInt8>) -> [Value] {
        for byte in added where !isOfMark(byte) { take(byte) }
        defer { values.removeAll(keepingCapacity: true) }
        return values
    }

    /// Hands out the unfinished value.
    public mutating func finish() -> [Value] {
        end()
        defer { values.removeAll() }
        return values
    }

    private mutating func take(_ byte: UInt8) {
        defer { if byte == UInt8(ascii: "\n") { line += 1 } }
        if isInString {
            // A string cannot go over the end of its line, so a quotation mark is missing.
            guard byte != UInt8(ascii: "\n") else { return end() }
            collect(byte)
            takeInString(byte)
            return
        }
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"):
            if depth > 0 { collect(byte) } else { end() }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if depth == 0 || !isValueExpected { end() }
            collect(byte)
            depth += 1
            last = byte
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            collect(byte)
            depth -= 1
            last = byte
            if depth <= 0 { end() }
        default:
            collect(byte)
            isInString = byte == UInt8(ascii: "\"")
            last = byte
        }
    }

    /// Whether a byte is the next one of a byte order mark, which may come in several parts.
    private mutating func isOfMark(_ byte: UInt8) -> Bool {
        guard let next = markLeft.first else { return false }
        guard next == byte else {
            markLeft = []
            return false
        }
        markLeft.removeFirst()
        return true
    }

    private mutating func takeInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
    }

    /// Whether an object or an array may begin after the last byte.
    private var isValueExpected: Bool {
        last == UInt8(ascii: ":") || last == UInt8(ascii: ",") || last == UInt8(ascii: "[")
    }

    private mutating func collect(_ byte: UInt8) {
        if bytes.isEmpty, !isTooLong { firstLine = line }
        lastLine = line
        guard bytes.count < bytesMaximum else {
            isTooLong = true
            bytes = []
            return
        }
        if !isTooLong { bytes.append(byte) }
    }

    private mutating func end() {
        if !bytes.isEmpty || isTooLong {
            values.append(Value(lines: firstLine...max(firstLine, lastLine), bytes: isTooLong ? nil : bytes))
        }
        bytes = []
        (isTooLong, isInString, isEscaped) = (false, false, false)
        depth = 0
        last = UInt8(ascii: "\n")
    }
}
