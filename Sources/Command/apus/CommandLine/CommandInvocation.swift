import Dispatcher

/// One use of a command: what the user typed, checked against what the command declares.
struct CommandInvocation: Sendable {
    /// The words of the command, for example `["apus", "device", "add"]`.
    let path: [String]
    /// What was typed beside the options.
    let operands: [String]
    /// Where data goes.
    let output: StandardOutput
    private let values: [String: [String]]

    init(path: [String], operands: [String], values: [String: [String]], output: StandardOutput) {
        self.path = path
        self.operands = operands
        self.values = values
        self.output = output
    }

    /// Whether a flag was given.
    func has(_ flag: CommandOption) -> Bool { values[flag.name] != nil }

    /// Whether JSON is asked for.
    var isJSON: Bool { has(.json) }

    /// All values of an option, in the order given.
    func strings(_ option: CommandOption) -> [String] { values[option.name] ?? [] }

    /// The value of an option, the last one if it was repeated, or nil.
    func string(_ option: CommandOption) -> String? { values[option.name]?.last }

    /// The value of an option that the command cannot do without.
    func required(_ option: CommandOption) throws(CommandFailure) -> String {
        guard let value = string(option) else { throw .usage("--\(option.name) is missing") }
        return value
    }

    /// The whole number that an option gives, or nil if it was not given.
    func integer(_ option: CommandOption, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = string(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .usage(
                "--\(option.name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }
}
