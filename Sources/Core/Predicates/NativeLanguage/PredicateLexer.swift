import Essentials

/// Takes the text of a predicate apart.
struct PredicateLexer {
    /// The text.
    let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// An error that names its line and column.
    func fault(_ code: PredicateError.Code, at start: Int, _ message: String) -> PredicateError {
        PredicateError(code, at: location(of: start), message)
    }

    /// The line and the character of an offset in the text.
    func location(of start: Int) -> PredicateError.Location {
        let before = scalars[..<min(start, scalars.count)]
        let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        let line = before.count { $0 == "\n" } + 1
        var text = String.UnicodeScalarView()
        text.append(contentsOf: before[lineStart...])
        return .text(line: line, column: String(text).count + 1)
    }

    /// The next token.
    mutating func next() throws(PredicateError) -> PredicateToken {
        while let scalar = peek(), Self.isBlank(scalar) { position += 1 }
        let start = position
        guard let scalar = peek() else { return PredicateToken(kind: .end, start: start) }
        switch scalar {
        case "\"", "'": return PredicateToken(kind: .text(try readQuoted(scalar)), start: start)
        case "`": return PredicateToken(kind: .name(try readQuoted(scalar)), start: start)
        case _ where Self.isDigit(scalar): return PredicateToken(kind: .number(try readNumber()), start: start)
        case "-", "+", ".":
            guard let next = peek(1), Self.isDigit(next) else { break }
            return PredicateToken(kind: .number(try readNumber()), start: start)
        case _ where Self.beginsName(scalar): return PredicateToken(kind: readName(), start: start)
        default: break
        }
        return PredicateToken(kind: .symbol(try readSymbol()), start: start)
    }

    /// Whether the path of a field can be written without quotes.
    static func isPlainName(_ path: String) -> Bool {
        var beginsName = true
        for scalar in path.unicodeScalars {
            guard beginsName ? Self.beginsName(scalar) : continuesName(scalar) || scalar == "." else { return false }
            beginsName = scalar == "."
        }
        return !beginsName && PredicateWord(name: path) == nil
    }

    // MARK: - Kinds of tokens

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    private mutating func readName() -> PredicateToken.Kind {
        let start = position
        while let scalar = peek() {
            if scalar == "." {
                guard let next = peek(1), Self.beginsName(next) else { break }
            } else if !Self.continuesName(scalar) {
                break
            }
            position += 1
        }
        let name = Self.text(scalars[start..<position])
        let distanceRest = ":fromLocation:".unicodeScalars
        if name == "distanceToLocation", scalars[position...].starts(with: distanceRest) {
            position += distanceRest.count
            return .distance
        }
        return PredicateWord(name: name).map(PredicateToken.Kind.word) ?? .name(name)
    }

    private static let singles = Set("=<>!(){}[],".unicodeScalars)
    /// The symbols of two characters, each as one number.
    private static let pairs = Set(
        ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||"].map { symbol in
            symbol.unicodeScalars.reduce(UInt64(0)) { $0 << 32 | UInt64($1.value) }
        })

    private mutating func readSymbol() throws(PredicateError) -> String {
        switch (peek(), peek(1)) {
        case (let first?, let second?) where Self.pairs.contains(UInt64(first.value) << 32 | UInt64(second.value)):
            position += 2
            return Self.text(scalars[(position - 2)..<position])
        case (let first?, _) where Self.singles.contains(first):
            position += 1
            return String(first)
        default: break
        }
        let found = Self.text(scalars[position..<(position + 1)]).excerpt
        let hint =
            peek() == "%" ? "; placeholders are not substituted: write the field or the value itself" : ""
        throw fault(.invalidSyntax, at: position, "\(found) means nothing here\(hint)")
    }

    private mutating func readNumber() throws(PredicateError) -> FieldValue {
        let start = position
        var isWhole = true
        if peek() == "-" || peek() == "+" { position += 1 }
        skipDigits()
        if peek() == ".", let next = peek(1), Self.isDigit(next) {
            isWhole = false
            position += 1
            skipDigits()
        }
        if peek() == "e" || peek() == "E" {
            let hasSign = peek(1) == "-" || peek(1) == "+"
            if let next = peek(hasSign ? 2 : 1), Self.isDigit(next) {
                isWhole = false
                position += hasSign ? 2 : 1
                skipDigits()
            }
        }
        let text = Self.text(scalars[start..<position])
        if let scalar = peek(), Self.continuesName(scalar) {
            throw fault(
                .invalidSyntax, at: start,
                "a name begins with a letter, and a number ends with a digit; write other names as `\(text)…`")
        }
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), let value = FieldValue.of(number) else {
            throw fault(.invalidSyntax, at: start, "\(text.excerpt) is no number")
        }
        return value
    }

    private mutating func skipDigits() {
        while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
    }

    private mutating func readQuoted(_ quote: Unicode.Scalar) throws(PredicateError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(text) }
            text.append(scalar == "\\" ? try readEscape() : scalar)
        }
        throw fault(.invalidSyntax, at: start, "the quote that begins here is not closed; expected another \(quote)")
    }

    /// Reads the rest of an escape after its backslash.
    private mutating func readEscape() throws(PredicateError) -> Unicode.Scalar {
        let start = position - 1
        guard let scalar = peek() else {
            throw fault(.invalidSyntax, at: start, "the text ends within a quote")
        }
        position += 1
        switch scalar {
        case "\\", "\"", "'", "`": return scalar
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            let rest = scalars[position...].prefix(8)
            if rest.first == "{", let end = rest.firstIndex(of: "}"),
                let value = UInt32(Self.text(rest[(position + 1)..<end]), radix: 16),
                let scalar = Unicode.Scalar(value)
            {
                position = end + 1
                return scalar
            }
        default: break
        }
        throw fault(
            .invalidSyntax, at: start,
            "this is no escape; expected \\\\ \\\" \\' \\` \\n \\r \\t or a character by its number such as \\u{e9}")
    }

    // MARK: - Characters

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    // The properties of a character are looked up in tables, which is slow; most characters are ASCII.

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? scalar == " " || ("\t"..."\r").contains(scalar) : scalar.properties.isWhitespace
    }

    private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.isAlphabetic }
        return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        if beginsName(scalar) || isDigit(scalar) { return true }
        return !scalar.isASCII && scalar.properties.generalCategory == .nonspacingMark
    }
}
