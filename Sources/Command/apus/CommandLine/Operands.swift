/// What a command takes beside its options.
enum Operands: Sendable {
    /// Nothing.
    case none
    /// Exactly these, in this order.
    case exactly([String])
    /// One or nothing.
    case optional(String)
    /// At least one.
    case oneOrMore(String)
    /// Any number.
    case any(String)

    /// How the operands look in the usage line.
    var usage: String {
        switch self {
        case .none: ""
        case .exactly(let names): names.joined(separator: " ")
        case .optional(let name): "[\(name)]"
        case .oneOrMore(let name): "\(name)..."
        case .any(let name): "[\(name)...]"
        }
    }

    /// Refuses a wrong number of operands.
    func check(_ operands: [String]) throws(CommandFailure) {
        switch self {
        case .none:
            if let first = operands.first { throw .usage("unexpected argument '\(first)'") }
        case .exactly(let names):
            if operands.count < names.count { throw .usage("\(names[operands.count]) is missing") }
            if operands.count > names.count { throw .usage("unexpected argument '\(operands[names.count])'") }
        case .optional:
            if operands.count > 1 { throw .usage("unexpected argument '\(operands[1])'") }
        case .oneOrMore(let name):
            if operands.isEmpty { throw .usage("\(name) is missing") }
        case .any:
            break
        }
    }
}
