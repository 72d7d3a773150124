internal import JSON
internal import PushLibrary

/// The members of a JSON object, in the order in which they were first set.
struct MemberTree {
    /// A value.
    indirect enum Node {
        /// A text.
        case text(String)
        /// JSON that is not looked into.
        case json([UInt8])
        /// An object whose members can be set.
        case object(MemberTree)
    }

    private var members: [(name: String, node: Node)] = []

    /// Whether there is no member.
    var isEmpty: Bool { members.isEmpty }

    /// The value at a path of names.
    subscript(path: String...) -> Node? { node(at: path[...]) }

    private func node(at path: ArraySlice<String>) -> Node? {
        guard let name = path.first, let node = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) })?.node
        else { return nil }
        guard path.count > 1 else { return node }
        guard case .object(let tree) = node else { return nil }
        return tree.node(at: path.dropFirst())
    }

    /// Sets the value at a path; objects on the way are made.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if something on the way is no such object.
    mutating func set(_ node: Node, at path: ArraySlice<String>) throws(PushError) {
        guard let name = path.first else { return }
        let index = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
        var value = node
        if path.count > 1 {
            var tree = MemberTree()
            switch index.map({ members[$0].node }) {
            case nil: break
            case .object(let present): tree = present
            case .text, .json:
                throw PushError(
                    .messageInvalid, "\"\(name)\" was set as a whole already; set its members, or the whole, not both")
            }
            try tree.set(node, at: path.dropFirst())
            value = .object(tree)
        }
        if let index { members[index].node = value } else { members.append((name, value)) }
    }

    /// The bytes of the keys and values of an object, as FCM counts them; 0 if it is not there.
    func bytes(at path: String...) -> Int {
        switch node(at: path[...]) {
        case nil: 0
        case .object(let tree): tree.members.reduce(0) { $0 + $1.name.utf8.count + $1.node.bytes }
        case let other?: other.bytes
        }
    }

    /// Writes the members into an object that is open.
    func writeMembers(to writer: inout JSONWriter, except omitted: String? = nil) {
        for member in members where member.name != omitted {
            writer.key(dynamic: member.name)
            switch member.node {
            case .text(let text): writer.string(text)
            case .json(let bytes): writer.raw(bytes)
            case .object(let tree):
                writer.beginObject()
                tree.writeMembers(to: &writer)
                writer.endObject()
            }
        }
    }
}

extension MemberTree {
    /// How many bytes the object has as JSON.
    fileprivate var writtenBytes: Int {
        var writer = JSONWriter()
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        return writer.bytes.count
    }
}

extension MemberTree.Node {
    /// How many bytes the value counts.
    fileprivate var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .json(let bytes): bytes.count
        case .object(let tree): tree.writtenBytes
        }
    }
}
