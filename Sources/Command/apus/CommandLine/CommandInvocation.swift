import CCommandLine
import Essentials
import EventLoop
import Glibc
import TraceExport
import WorkerConfiguration

/// One use of a command: the user's words, checked against the command's declaration.
struct CommandInvocation: Sendable {
    /// The words of the command, for example `["apus", "device", "add"]`.
    let path: [String]
    /// The words beside the options.
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

    /// Loads the configuration that `--config`, `--set` and the environment ask for.
    ///
    /// The command has to list `CommandOption.configuration` among its options. A long-running process logs the
    /// warnings; a list of devices needs no warning about the broker's password.
    ///
    /// - Parameter purpose: how much of it has to be right.
    /// - Returns: the configuration.
    /// - Throws: `CommandFailure` with all problems, one a line, and the code 78, or 75 if a file is not readable now.
    func loadConfiguration(for purpose: ConfigurationLoader.Purpose) throws(CommandFailure) -> LoadedConfiguration {
        let loader = try configurationLoader()
        do {
            return try loader.load(for: purpose)
        } catch {
            let count = error.problems.count
            let lines = error.problems.map { "\n  \($0)" }.joined()
            throw CommandFailure(
                error.isTransient ? .temporaryFailure : .configuration,
                "\(count) \(count == 1 ? "problem" : "problems") in the configuration:\(lines)")
        }
    }

    /// Where OpenTelemetry's environment variables send traces to; nil for nowhere.
    func traceExport() throws(CommandFailure) -> TraceExportConfiguration? {
        do throws(TraceConfigurationError) {
            return try TraceExportConfiguration(environment: ProcessEnvironment.variables) { access($0, R_OK) == 0 }
        } catch {
            throw CommandFailure(.configuration, error.description)
        }
    }

    /// A loader for the configuration that the command line names.
    func configurationLoader() throws(CommandFailure) -> ConfigurationLoader {
        var overrides: [ConfigurationOverride] = []
        for text in strings(.set) {
            let key = text.prefix { $0 != "=" }
            guard key.count < text.count else { throw .usage("--set takes KEY=VALUE, not '\(key)'") }
            overrides.append(
                ConfigurationOverride(key: String(key), value: String(text.dropFirst(key.count + 1))))
        }
        return ConfigurationLoader(
            path: string(.config), environment: ProcessEnvironment.variables, overrides: overrides)
    }
}

/// The environment of the process.
enum ProcessEnvironment {
    /// The variables by name, as they were at the start of the program.
    static let variables = readVariables()

    private static func readVariables() -> [String: String] {
        var variables: [String: String] = [:]
        var next = ccommandline_environment()
        while let pointer = next?.pointee {
            let entry = String(cString: pointer)
            let name = entry.prefix { $0 != "=" }
            variables[String(name)] = String(entry.dropFirst(name.count + 1))
            next = next?.successor()
        }
        return variables
    }
}

extension CommandInvocation {
    /// The moment that an option gives, or nil if it was not given.
    ///
    /// A moment is a time as RFC 3339 writes it, or how long ago it was.
    ///
    /// - Parameter option: the option, whose value is called `TIME`.
    /// - Returns: milliseconds since 1970.
    /// - Throws: `CommandFailure` that shows both forms, if it is neither.
    func moment(_ option: CommandOption) throws(CommandFailure) -> Int64? {
        guard let text = string(option) else { return nil }
        if let milliseconds = WallTime.milliseconds(text) { return milliseconds }
        if let age = TimeSpan(text) { return WallClock.nowMilliseconds() - Int64(age.milliseconds) }
        throw .usage(
            "--\(option.name) takes a time such as 2026-01-31T12:00:00Z, or an age such as 90s, 15m or 48h, not "
                + "'\(text)'")
    }
}
