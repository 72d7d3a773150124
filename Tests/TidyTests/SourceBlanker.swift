/// Blanks out comments and string literals of Swift source, so that a rule about code sees code alone.
///
/// It knows line and nested block comments, strings of one and of several lines, and raw strings; an interpolation is
/// blanked with its string, which is enough for the rules here.
struct SourceBlanker {
    private let bytes: [UInt8]
    private var output: [UInt8]
    private var index = 0

    private init(_ text: String) {
        bytes = Array(text.utf8)
        output = bytes
    }

    /// Blanks out comments and string literals.
    ///
    /// - Parameter text: Swift source.
    /// - Returns: Text of the same lines, each byte of a comment or literal replaced by a space.
    static func blanked(_ text: String) -> String {
        var blanker = SourceBlanker(text)
        while blanker.index < blanker.bytes.count {
            blanker.step()
        }
        return String(decoding: blanker.output, as: UTF8.self)
    }

    private mutating func step() {
        let byte = bytes[index]
        guard byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\"") else {
            index += 1
            return
        }
        if starts(with: "//") {
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            advance(end - index)
        } else if starts(with: "/*") {
            blankBlockComment()
        } else if let hashes = rawStringHashes() {
            let quotes = starts(with: "\"\"\"", after: hashes) ? 3 : 1
            blankString(opening: hashes + quotes, quotes: quotes, hashes: hashes)
        } else {
            index += 1
        }
    }

    /// The count of `#` before a quote that opens a string here, or nil if none opens here.
    private func rawStringHashes() -> Int? {
        var hashes = 0
        while index + hashes < bytes.count, bytes[index + hashes] == UInt8(ascii: "#") {
            hashes += 1
        }
        return starts(with: "\"", after: hashes) ? hashes : nil
    }

    private mutating func blankString(opening: Int, quotes: Int, hashes: Int) {
        let marks = String(repeating: "#", count: hashes)
        let closing = String(repeating: "\"", count: quotes) + marks
        let escape = "\\" + marks
        advance(opening)
        while index < bytes.count, !starts(with: closing) {
            if quotes == 1, starts(with: "\n") {
                return
            } else if starts(with: escape + "(") {
                blankInterpolation(opening: escape.utf8.count + 1)
            } else {
                advance(starts(with: escape) ? escape.utf8.count + 1 : 1)
            }
        }
        advance(closing.utf8.count)
    }

    private mutating func blankInterpolation(opening: Int) {
        var depth = 1
        advance(opening)
        while index < bytes.count, depth > 0 {
            if let hashes = rawStringHashes() {
                blankString(opening: hashes + 1, quotes: 1, hashes: hashes)
                continue
            }
            depth += starts(with: "(") ? 1 : starts(with: ")") ? -1 : 0
            advance(1)
        }
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                advance(2)
            } else if starts(with: "*/") {
                depth -= 1
                advance(2)
            } else {
                advance(1)
            }
        } while depth > 0 && index < bytes.count
    }

    private mutating func advance(_ count: Int) {
        for _ in 0..<count where index < bytes.count {
            if bytes[index] != UInt8(ascii: "\n") {
                output[index] = UInt8(ascii: " ")
            }
            index += 1
        }
    }

    private func starts(with text: String, after offset: Int = 0) -> Bool {
        // Nearly always the first byte says no, which makes this many times as fast.
        let start = index + offset
        guard start < bytes.count, bytes[start] == text.utf8.first else { return false }
        return bytes[start...].starts(with: text.utf8)
    }
}
