import CTOML

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

    /// What has been found at the top level.
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
            place(TOMLNode(value, line: done.line), key: done.key)
        case CTOML_STRING: place(TOMLNode(.string(Self.text(node.text, node.text_length)), line: line), key: key)
        case CTOML_INTEGER: place(TOMLNode(.integer(Int(node.integer)), line: line), key: key)
        case CTOML_NUMBER: place(TOMLNode(.number(node.number), line: line), key: key)
        case CTOML_BOOLEAN: place(TOMLNode(.boolean(node.integer != 0), line: line), key: key)
        default: place(TOMLNode(.dateTime(Self.text(node.text, node.text_length)), line: line), key: key)
        }
    }

    private func place(_ node: TOMLNode, key: String?) {
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
