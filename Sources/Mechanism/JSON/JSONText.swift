/// The text of single JSON values.
enum JSONText {
    static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        append(number.magnitude, to: &bytes)
    }

    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        guard number > 9 else {
            bytes.append(48 + UInt8(truncatingIfNeeded: number))
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var position = 20
            var rest = number
            while rest > 0 {
                position -= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                digits[position] = 48 + UInt8(truncatingIfNeeded: digit)
                rest = quotient
            }
            bytes.append(contentsOf: digits[position...])
        }
    }

    /// Writes the shortest text that reads back as the same double; JSON has none for infinity and NaN, so `null`.
    static func append(_ number: Double, to bytes: inout [UInt8]) {
        guard number.isFinite else { return append("null", to: &bytes) }
        bytes.append(contentsOf: number.description.utf8)
    }

    /// Writes a string of valid UTF-8 with its quotes, escaping only the characters that RFC 8259 section 7 requires.
    static func append(string: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var runStart = 0
        while true {
            let runEnd = firstEscape(in: string, from: runStart)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: string[runStart..<runEnd]))
            guard runEnd < string.count else { break }
            appendEscape(of: string[runEnd], to: &bytes)
            runStart = runEnd + 1
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The index of the first byte that needs an escape, or the end.
    ///
    /// Eight bytes are looked at together; each test sets the top bit of every byte that it finds (and sometimes that
    /// of a byte after it, which only costs a closer look).
    private static func firstEscape(in string: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(string)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = start
        while position + 8 <= string.count {
            let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5c)
            let controls = (word &- ones &* 0x20) & ~word
            let found = controls | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
            guard found & (ones &* 0x80) == 0 else { break }
            position += 8
        }
        while position < string.count {
            let byte = string[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            position += 1
        }
        return position
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"", to: &bytes)
        case UInt8(ascii: "\\"): append("\\\\", to: &bytes)
        case 0x08: append("\\b", to: &bytes)
        case 0x09: append("\\t", to: &bytes)
        case 0x0a: append("\\n", to: &bytes)
        case 0x0c: append("\\f", to: &bytes)
        case 0x0d: append("\\r", to: &bytes)
        default:
            append("\\u00", to: &bytes)
            let low = byte & 15
            bytes.append(48 + (byte >> 4))
            bytes.append(low < 10 ? 48 + low : 87 + low)
        }
    }
}
