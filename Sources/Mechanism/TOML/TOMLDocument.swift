import CTOML

/// Reads TOML 1.0 documents, through toml++.
public enum TOMLDocument {
    /// The longest document that is read, in bytes; a configuration is a few thousand.
    public static let sizeBytesMaximum = 1 << 20

    private static let dotsPerLineMaximum = 32

    /// Reads a document.
    ///
    /// - Parameter bytes: UTF-8 text.
    /// - Returns: the entries at the top level, in the order of the document.
    /// - Throws: `TOMLError` at the first thing that is not TOML: the parser stops there.
    public static func parse(_ bytes: [UInt8]) throws(TOMLError) -> [TOMLEntry] {
        guard bytes.count <= sizeBytesMaximum else {
            throw TOMLError(message: "longer than \(sizeBytesMaximum) bytes", line: 0, column: 0)
        }
        try checkDots(bytes)
        let builder = TreeBuilder()
        var failure = ctoml_error()
        let isParsed = bytes.withUnsafeBytes { text in
            ctoml_parse(
                text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count,
                { context, node in
                    guard let context, let node else { return }
                    // The builder outlives the call below, which is the only one that makes this callback run.
                    Unmanaged<TreeBuilder>.fromOpaque(context).takeUnretainedValue().add(node.pointee)
                }, Unmanaged.passUnretained(builder).toOpaque(), &failure) == 1
        }
        guard isParsed else {
            let message = withUnsafeBytes(of: &failure.message) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw TOMLError(message: message, line: Int(failure.line), column: Int(failure.column))
        }
        return builder.entries
    }

    /// Refuses keys of very many parts.
    ///
    /// The parser limits the nesting of values but not that of dotted keys, and both it and the walk recurse: a line
    /// of a hundred thousand dots would overflow the stack.
    private static func checkDots(_ bytes: [UInt8]) throws(TOMLError) {
        var line = 1
        var dots = 0
        var quote: UInt8?
        var isEscaped = false
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                line += 1
                dots = 0
                quote = nil
                isEscaped = false
            } else if let open = quote {
                if byte == open, !isEscaped { quote = nil }
                isEscaped = open == UInt8(ascii: "\"") && byte == UInt8(ascii: "\\") && !isEscaped
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ".") {
                dots += 1
                guard dots <= dotsPerLineMaximum else {
                    throw TOMLError(
                        message: "more than \(dotsPerLineMaximum) dots outside of quotes", line: line, column: 0)
                }
            }
        }
    }
}
