/// One option of a command, for example `--app NAME`.
///
/// Commands keep their options in static constants, list them in `Command.options`, and ask the invocation for them.
struct CommandOption: Sendable {
    /// The long name, without the dashes.
    let name: String
    /// The one-letter name, if there is one.
    let letter: Character?
    /// The placeholder of the value, in capitals, for example `FILE`; nil for a flag, which has no value.
    let valueName: String?
    /// One line for the help, with the default, the range and the unit if there are any.
    let summary: String
    /// Whether the command cannot run without it.
    let isRequired: Bool

    /// An option with a value: `--name VALUE` or `--name=VALUE`; it may be repeated if the command asks for all values.
    static func value(
        _ name: String,
        letter: Character? = nil,
        _ valueName: String,
        _ summary: String,
        isRequired: Bool = false
    ) -> CommandOption {
        CommandOption(name: name, letter: letter, valueName: valueName, summary: summary, isRequired: isRequired)
    }

    /// An option that is there or not.
    static func flag(_ name: String, letter: Character? = nil, _ summary: String) -> CommandOption {
        CommandOption(name: name, letter: letter, valueName: nil, summary: summary, isRequired: false)
    }

    /// `--help`, which every command has without listing it.
    static let help = flag("help", letter: "h", "Show this help and exit.")
    /// `--json`, for commands that print data.
    static let json = flag("json", "Print JSON instead of text.")
    /// `--config`, for commands that need the configuration.
    static let config = value(
        "config",
        letter: "c",
        "FILE",
        "The configuration file. Default: $APUS_CONFIG, else apus.toml in this folder."
    )
    /// `--set`, by which any configuration key is given on the command line.
    static let set = value(
        "set",
        letter: "s",
        "KEY=VALUE",
        "Set a configuration key, for example rabbitmq.prefetch=500. Repeatable."
    )

    /// The options of a command that loads the configuration.
    static let configuration = [config, set]
}

/// The operands that a command takes.
enum Operands: Sendable {
    /// No operands.
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
