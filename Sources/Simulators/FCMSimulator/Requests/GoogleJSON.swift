import PushServiceSimulator

/// A JSON value as Google's servers read and write it.
///
/// It is no `JSONValue`: numbers keep their digits, because errors quote them, and it can be made as well as read.
/// Objects keep their order and their repeated names.
indirect enum GoogleJSON: Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([GoogleJSON])
    case object([Member])

    /// A name and a value in an object.
    struct Member: Equatable {
        let name: String
        let value: GoogleJSON
    }

    private static let depthMaximum = 64

    /// Reads a value; nil if the bytes are not UTF-8, JSON (RFC 8259), and nothing else.
    static func parse(_ bytes: [UInt8]) -> GoogleJSON? {
        bytes.withUnsafeBufferPointer { bytes in
            guard var reader = try? JSONReader(bytes), let node = try? read(&reader, depth: 0),
                (try? reader.readEnd()) != nil
            else { return nil }
            return node
        }
    }

    private static func read(_ reader: inout JSONReader, depth: Int) throws(JSONReader.Malformed) -> GoogleJSON {
        guard depth < depthMaximum else { throw JSONReader.Malformed() }
        switch reader.nextByte {
        case UInt8(ascii: "\""): return .string(try reader.readText())
        case UInt8(ascii: "{"):
            var members: [Member] = []
            try reader.enterObject()
            while let name = try reader.nextName() {
                members.append(Member(name: name, value: try read(&reader, depth: depth + 1)))
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [GoogleJSON] = []
            try reader.enterArray()
            while try reader.nextElement() { elements.append(try read(&reader, depth: depth + 1)) }
            return .array(elements)
        case UInt8(ascii: "t"):
            try reader.readWord("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try reader.readWord("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try reader.readWord("null")
            return .null
        default: return .number(try reader.readNumberText())
        }
    }

    /// The first member of that name; nil if this is no object or has none.
    subscript(name: String) -> GoogleJSON? { members.first { $0.name == name }?.value }

    /// The text of a string.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// A whole number.
    var integer: Int64? { if case .number(let digits) = self { Int64(digits) } else { nil } }

    /// The members of an object; none of anything else.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}

extension GoogleJSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(stringLiteral text: String) { self = .string(text) }

    init(arrayLiteral elements: GoogleJSON...) { self = .array(elements) }

    init(dictionaryLiteral members: (String, GoogleJSON)...) {
        self = .object(members.map { Member(name: $0, value: $1) })
    }

    /// An object of texts.
    init(_ members: KeyValuePairs<String, String>) {
        self = .object(members.map { Member(name: $0, value: .string($1)) })
    }
}

/// Writes values as Google's servers do: two columns a level, and brackets of tags escaped.
extension GoogleJSON {
    /// The body of an answer: the value on several lines, with a line feed at the end.
    var body: [UInt8] { Array((indented(by: "\n") + "\n").utf8) }

    /// The value on one line without spaces, as the messages of errors quote it.
    var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.compact).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.compact }.joined(separator: ",") + "}"
        }
    }

    /// The value on several lines, each of which begins with a line feed and the columns of its level.
    private func indented(by start: String) -> String {
        let inner = start + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            return "[" + inner + elements.map { $0.indented(by: inner) }.joined(separator: "," + inner) + start + "]"
        case .object(let members) where !members.isEmpty:
            let texts = members.map { Self.quoted($0.name) + ": " + $0.value.indented(by: inner) }
            return "{" + inner + texts.joined(separator: "," + inner) + start + "}"
        default: return compact
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "<", ">", "\u{0}"..<" ", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
