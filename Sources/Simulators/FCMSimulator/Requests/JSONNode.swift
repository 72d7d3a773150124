import PushServiceSimulator

/// A JSON value as it stands in a request: numbers keep their digits, and objects their order and repeated names.
indirect enum JSONNode: Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([JSONMember])

    private static let depthMaximum = 64

    /// Reads a value; nil if the bytes are not UTF-8, JSON (RFC 8259), and nothing else.
    static func parse(_ bytes: [UInt8]) -> JSONNode? {
        bytes.withUnsafeBufferPointer { buffer in
            do {
                var reader = try JSONReader(buffer)
                let node = try read(&reader, depth: 0)
                try reader.readEnd()
                return node
            } catch {
                return nil
            }
        }
    }

    private static func read(_ reader: inout JSONReader, depth: Int) throws(JSONReader.Malformed) -> JSONNode {
        guard depth < depthMaximum else { throw JSONReader.Malformed() }
        switch reader.nextByte {
        case UInt8(ascii: "\""): return .string(try reader.readText())
        case UInt8(ascii: "{"):
            var members: [JSONMember] = []
            try reader.enterObject()
            while let key = try reader.nextName() {
                members.append(JSONMember(name: key, value: try read(&reader, depth: depth + 1)))
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONNode] = []
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
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a string.
    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// A whole number.
    var integer: Int64? {
        guard case .number(let digits) = self else { return nil }
        return Int64(digits)
    }

    /// The members of an object; none of anything else.
    var members: [JSONMember] {
        guard case .object(let members) = self else { return [] }
        return members
    }
}

/// A name and a value in an object.
struct JSONMember: Equatable {
    let name: String
    let value: JSONNode
}

/// Writes values as Google's servers do: two columns a level, and brackets of tags escaped.
extension JSONNode {
    /// The body of an answer: the value on several lines, with a line feed at the end.
    var body: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: 0)
        bytes.append(0x0A)
        return bytes
    }

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

    private func write(to bytes: inout [UInt8], indentation: Int) {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            Self.writeLines(elements, in: ("[", "]"), to: &bytes, indentation) { element, bytes in
                element.write(to: &bytes, indentation: indentation + 2)
            }
        case .object(let members) where !members.isEmpty:
            Self.writeLines(members, in: ("{", "}"), to: &bytes, indentation) { member, bytes in
                bytes += (Self.quoted(member.name) + ": ").utf8
                member.value.write(to: &bytes, indentation: indentation + 2)
            }
        default: bytes += compact.utf8
        }
    }

    private static func writeLines<Element>(
        _ elements: [Element], in brackets: (String, String), to bytes: inout [UInt8], _ indentation: Int,
        write: (Element, inout [UInt8]) -> Void
    ) {
        bytes += brackets.0.utf8
        for (index, element) in elements.enumerated() {
            bytes += ((index == 0 ? "\n" : ",\n") + String(repeating: " ", count: indentation + 2)).utf8
            write(element, &bytes)
        }
        bytes += ("\n" + String(repeating: " ", count: indentation) + brackets.1).utf8
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
