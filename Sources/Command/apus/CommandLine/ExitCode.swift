/// How the command ended, as the system's `sysexits.h` numbers it.
enum ExitCode: Int32, CaseIterable, Sendable {
    /// All went well.
    case ok = 0
    /// The answer is no: a record does not match.
    case noMatch = 1
    /// The command line was wrong.
    case usage = 64
    /// The data given was wrong, in part or whole.
    case data = 65
    /// An input file is missing or cannot be read.
    case noInput = 66
    /// Something that was needed cannot be reached: the broker, a push service, the registry.
    case unavailable = 69
    /// A fault in Apus itself.
    case software = 70
    /// An output file cannot be made.
    case cannotCreate = 73
    /// Reading or writing failed on the way.
    case inputOutput = 74
    /// It failed for now: the same command may succeed later.
    case temporaryFailure = 75
    /// The other side refused a password, a key or a right.
    case noPermission = 77
    /// The configuration, or something that it names, is wrong.
    case configuration = 78

    /// The meaning of the code, for the help texts.
    var meaning: String {
        switch self {
        case .ok: "success"
        case .noMatch: "the record does not match"
        case .usage: "the command line is invalid"
        case .data: "some input data is invalid"
        case .noInput: "an input file is missing or cannot be read"
        case .unavailable: "the broker, the registry or a push service cannot be reached"
        case .software: "an internal error"
        case .cannotCreate: "an output file cannot be created"
        case .inputOutput: "reading or writing failed"
        case .temporaryFailure: "a temporary failure: try again"
        case .noPermission: "access was denied"
        case .configuration: "the configuration is invalid"
        }
    }
}

/// Why a command cannot go on: thrown by commands, printed by the runner as one line, and turned into an exit code.
struct CommandFailure: Error, CustomStringConvertible, Sendable {
    /// The code with which the process ends.
    let code: ExitCode
    /// The problem, its location and the remedy; several lines are allowed, a secret never.
    let message: String

    /// Creates a failure.
    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A command line that cannot be understood; the runner adds where to find the help.
    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    /// The message.
    var description: String { message }
}
