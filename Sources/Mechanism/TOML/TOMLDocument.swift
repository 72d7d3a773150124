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

/// A text is not a TOML document.
public struct TOMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, in the parser's words.
    public let message: String
    /// The line at which it was noticed, from 1; 0 if it concerns the whole text.
    public let line: Int
    /// The column at which it was noticed, from 1; 0 if it concerns the whole text.
    public let column: Int

    /// The line, the column and the message.
    public var description: String { line > 0 ? "line \(line), column \(column): \(message)" : message }
}

/// Turns the walk through a document into a tree.
final class TreeBuilder {
    /// A table or an array whose end has not come yet.
    private struct Open {
        let key: String?
        let line: Int
        let isTable: Bool
        var entries: [TOMLEntry] = []
        var elements: [TOMLNode] = []
    }

    private var open = [Open(key: nil, line: 0, isTable: true)]

    /// The entries of the top level.
    var entries: [TOMLEntry] { open.first?.entries ?? [] }

    /// Takes the next step of the walk.
    func add(_ node: ctoml_node) {
        let key = node.key.map { Self.text($0, node.key_length) }
        let line = Int(node.line)
        switch node.kind {
        case CTOML_TABLE: open.append(Open(key: key, line: line, isTable: true))
        case CTOML_ARRAY: open.append(Open(key: key, line: line, isTable: false))
        case CTOML_END:
            let done = open.removeLast()
            let value: TOMLNode.Value = done.isTable ? .table(done.entries) : .array(done.elements)
            append(TOMLNode(value, line: done.line), key: done.key)
        case CTOML_STRING: append(TOMLNode(.string(Self.text(node.text, node.text_length)), line: line), key: key)
        case CTOML_INTEGER: append(TOMLNode(.integer(Int(node.integer)), line: line), key: key)
        case CTOML_NUMBER: append(TOMLNode(.number(node.number), line: line), key: key)
        case CTOML_BOOLEAN: append(TOMLNode(.boolean(node.integer != 0), line: line), key: key)
        default: append(TOMLNode(.dateTime(Self.text(node.text, node.text_length)), line: line), key: key)
        }
    }

    private func append(_ node: TOMLNode, key: String?) {
        if let key {
            open[open.count - 1].entries.append(TOMLEntry(key: key, node: node))
        } else {
            open[open.count - 1].elements.append(node)
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?, _ length: Int) -> String {
        guard let pointer else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: pointer, count: length), as: UTF8.self)
    }
}
