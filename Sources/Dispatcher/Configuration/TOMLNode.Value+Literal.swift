import TOML

extension TOMLNode.Value {
    /// The value as TOML writes it, which for what a configuration holds is what JSON writes as well.
    var literal: String {
        switch self {
        case .string(let text), .dateTime(let text): JSONText.quoted(text)
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .array(let nodes): "[" + nodes.map(\.value.literal).joined(separator: ", ") + "]"
        case .table(let entries):
            "{" + entries.map { "\($0.key) = \($0.node.value.literal)" }.joined(separator: ", ") + "}"
        }
    }
}
