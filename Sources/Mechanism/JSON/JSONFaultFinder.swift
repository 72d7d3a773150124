/// Finds out where and why a document is not JSON, after simdjson has refused it.
///
/// It reads the whole grammar of RFC 8259 by itself, without recursion, and builds nothing. Speed does not matter here.
/// It must refuse exactly what simdjson refuses; the tests check that. It can also write the document again with its
/// numbers in range.
struct JSONFaultFinder {
    static let emptyDocument = JSONError(.empty, "there is no JSON document, nothing but white space at most")

    private enum State {
        case value
        case firstElement
        case firstKey
        case key
        case afterValue
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let depthMaximum: Int
    private var position = 0
    /// The opening brackets that are not closed yet.
    private var brackets: [UInt8] = []
    /// Whether numbers out of range are rounded and not refused.
    private var roundsNumbers = false
    /// The first `copiedBytes` bytes of the document, with their numbers rounded.
    private var rounded: [UInt8] = []
    private var copiedBytes = 0

    private init(bytes: UnsafeBufferPointer<UInt8>, depthMaximum: Int) {
        self.bytes = bytes
        self.depthMaximum = depthMaximum
    }

    /// The fault of a document that simdjson refused.
    static func fault(in bytes: UnsafeBufferPointer<UInt8>, depthMaximum: Int) -> JSONError {
        firstFault(in: bytes, depthMaximum: depthMaximum) ?? JSONError(.invalidSyntax, "the document is not JSON")
    }

    /// The first fault of any document, or nil if it has none.
    static func firstFault(in bytes: UnsafeBufferPointer<UInt8>, depthMaximum: Int) -> JSONError? {
        do {
            _ = try UTF8Span(validating: Span(_unsafeElements: bytes))
        } catch {
            let offset = error.byteOffsets.lowerBound
            return JSONError(
                .invalidUTF8,
                byteOffset: offset,
                "the bytes are not UTF-8; JSON is to be sent in UTF-8"
            )
        }
        var finder = JSONFaultFinder(bytes: bytes, depthMaximum: depthMaximum)
        do {
            try finder.readDocument()
            return nil
        } catch {
            return error
        }
    }

    /// The document with each number out of range replaced by the nearest finite double.
    ///
    /// - Throws: the first other fault of the document.
    static func roundingNumbers(
        of bytes: UnsafeBufferPointer<UInt8>, depthMaximum: Int
    ) throws(JSONError) -> [UInt8] {
        var finder = JSONFaultFinder(bytes: bytes, depthMaximum: depthMaximum)
        finder.roundsNumbers = true
        try finder.readDocument()
        return finder.rounded + bytes[finder.copiedBytes...]
    }

    // MARK: - The grammar

    private mutating func readDocument() throws(JSONError) {
        skipWhiteSpace()
        guard position < bytes.count else { throw Self.emptyDocument }
        var state = State.value
        repeat {
            skipWhiteSpace()
            switch state {
            case .value: state = try readValue()
            case .firstElement: state = try closes(UInt8(ascii: "]")) ? .afterValue : readValue()
            case .firstKey: state = try closes(UInt8(ascii: "}")) ? .afterValue : readKey()
            case .key: state = try readKey()
            case .afterValue: state = try readSeparator()
            }
        } while state != .afterValue || !brackets.isEmpty
        skipWhiteSpace()
        guard position == bytes.count else { throw syntax("there is more after the end of the document") }
    }

    private mutating func readValue() throws(JSONError) -> State {
        try checkDepth()
        switch peek {
        case UInt8(ascii: "{"): return open(.firstKey)
        case UInt8(ascii: "["): return open(.firstElement)
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "t"): try readWord("true")
        case UInt8(ascii: "f"): try readWord("false")
        case UInt8(ascii: "n"): try readWord("null")
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: try readNumber()
        case nil: throw syntax("the document ends where a value should be")
        default: throw syntax("here should be a value: an object, array, string, number, true, false or null")
        }
        return .afterValue
    }

    private mutating func open(_ next: State) -> State {
        brackets.append(bytes[position])
        position += 1
        return next
    }

    /// Counts as simdjson does: a container that turns out to be empty does not deepen the document.
    private func checkDepth() throws(JSONError) {
        guard brackets.count > depthMaximum else { return }
        throw JSONError(
            .tooDeep,
            byteOffset: position,
            "arrays and objects are nested more deeply than \(depthMaximum) levels"
        )
    }

    private mutating func closes(_ bracket: UInt8) -> Bool {
        guard peek == bracket else { return false }
        position += 1
        brackets.removeLast()
        return true
    }

    private mutating func readKey() throws(JSONError) -> State {
        try checkDepth()
        guard peek == UInt8(ascii: "\"") else { throw syntax("here should be a key in double quotes") }
        try readString()
        skipWhiteSpace()
        guard peek == UInt8(ascii: ":") else { throw syntax("here should be a colon after a key") }
        position += 1
        return .value
    }

    private mutating func readSeparator() throws(JSONError) -> State {
        let isObject = brackets.last == UInt8(ascii: "{")
        if closes(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return .afterValue }
        guard peek == UInt8(ascii: ",") else {
            throw syntax(
                "here should be a comma or the closing \(isObject ? "brace of an object" : "bracket of an array")"
            )
        }
        position += 1
        return isObject ? .key : .value
    }

    private mutating func readWord(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek == word.utf8Start[index] else { throw syntax("here should be the word \(word)") }
            position += 1
        }
        try checkEndOfScalar()
    }

    /// A scalar ends at white space or punctuation: `nullx` is a fault of the word, not of what follows it.
    private func checkEndOfScalar() throws(JSONError) {
        switch peek {
        case nil, 0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"),
            UInt8(ascii: "["), UInt8(ascii: "{"):
            return
        default:
            throw syntax("a number or word runs into other text")
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private func syntax(_ message: String) -> JSONError {
        JSONError(.invalidSyntax, byteOffset: position, message)
    }
}

// MARK: - Strings

extension JSONFaultFinder {
    private mutating func readString() throws(JSONError) {
        let start = position
        position += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                try readEscape()
            case 0..<0x20:
                throw syntax("a control character in a string must be written as an escape")
            default:
                position += 1
            }
        }
        throw JSONError(.invalidSyntax, byteOffset: start, "a string is never closed")
    }

    private mutating func readEscape() throws(JSONError) {
        position += 1
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            try readUnicodeEscape()
        default:
            throw syntax("a backslash must be followed by one of \"\\/bfnrtu")
        }
    }

    /// Reads `u` with its four digits, and the second half of a surrogate pair: half a character cannot be written in
    /// UTF-8.
    private mutating func readUnicodeEscape() throws(JSONError) {
        let start = position - 1
        let first = try readFourDigits()
        guard (0xd800...0xdfff).contains(first) else { return }
        let lone = JSONError(.invalidSyntax, byteOffset: start, "an escape is half of a surrogate pair")
        guard first < 0xdc00, peek == UInt8(ascii: "\\") else { throw lone }
        position += 1
        guard peek == UInt8(ascii: "u") else { throw lone }
        guard (0xdc00...0xdfff).contains(try readFourDigits()) else { throw lone }
    }

    private mutating func readFourDigits() throws(JSONError) -> UInt32 {
        position += 1
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                throw syntax("\\u must be followed by four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

// MARK: - Numbers

extension JSONFaultFinder {
    private mutating func readNumber() throws(JSONError) {
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        let firstDigit = position
        let integerDigits = skipDigits()
        guard integerDigits > 0 else { throw syntax("here should be a digit") }
        guard integerDigits == 1 || bytes[firstDigit] != UInt8(ascii: "0") else {
            throw JSONError(.invalidSyntax, byteOffset: start, "a number begins with a superfluous 0")
        }
        var isInteger = true
        if peek == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            guard skipDigits() > 0 else { throw syntax("here should be a digit after the point") }
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            guard skipDigits() > 0 else { throw syntax("here should be a digit of the exponent") }
        }
        try checkEndOfScalar()
        try checkRange(start: start, isInteger: isInteger)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func checkRange(start: Int, isInteger: Bool) throws(JSONError) {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard !(isInteger && (Int64(text) != nil || UInt64(text) != nil)) else { return }
        let double = Double(text) ?? 0
        guard isInteger || !double.isFinite else { return }
        guard !roundsNumbers else {
            let limit = Double.greatestFiniteMagnitude
            rounded.append(contentsOf: bytes[copiedBytes..<start])
            JSONText.append(min(max(double, -limit), limit), to: &rounded)
            copiedBytes = position
            return
        }
        throw isInteger
            ? JSONError(
                .numberOutOfRange,
                byteOffset: start,
                "an integer must be -9223372036854775808 to 18446744073709551615; send a larger one as a string"
            )
            : JSONError(
                .numberOutOfRange, byteOffset: start, "the magnitude of a number is beyond that of a double")
    }
}
