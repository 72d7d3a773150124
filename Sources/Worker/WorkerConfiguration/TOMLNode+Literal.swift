import JSON
import TOML

extension TOMLNode {
    /// A value as TOML writes it; for the values of a configuration JSON writes the same.
    static func literal(_ value: Value) -> String {
        switch value {
        case .string(let text), .dateTime(let text): text.quoted
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .array(let nodes): "[" + nodes.map { literal($0.value) }.joined(separator: ", ") + "]"
        case .table(let entries):
            "{" + entries.map { "\($0.key) = \(literal($0.node.value))" }.joined(separator: ", ") + "}"
        }
    }
}

extension String {
    /// The text in quotes with special characters escaped, as JSON and TOML both read it.
    var quoted: String {
        var writer = JSONWriter(capacityBytes: utf8.count + 2)
        writer.string(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
