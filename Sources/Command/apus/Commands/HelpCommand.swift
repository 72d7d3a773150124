import Essentials
import EventLoop
import Glibc

/// `apus help COMMAND`, the same as `apus COMMAND --help`; and the pages of the manual.
struct HelpCommand: Command {
    private static let manual = CommandOption.value(
        "manual", "FOLDER", "Write the manual pages of all commands and of apus.toml into a folder that exists.")

    let name = "help"
    let summary = "Show the help of a command"
    let help = CommandHelp(
        discussion: """
            Is the same as 'apus COMMAND --help'. With --manual it writes the same as pages for
            man, as the Debian package has them.
            """,
        examples: [
            .init("apus help device add", "Shows the help of 'apus device add'."),
            .init("apus help --manual . && man ./apus-run.1", "Shows the manual page of 'apus run'."),
        ],
        environment: [
            .init("SOURCE_DATE_EPOCH", "The date of the manual pages, in Unix seconds. Default: now.")
        ],
        exitCodes: [.cannotCreate, .inputOutput]
    )
    let options: [CommandOption] = [Self.manual]
    let operands = Operands.any("COMMAND")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        if let folder = invocation.string(Self.manual) {
            guard invocation.operands.isEmpty else {
                throw CommandFailure.usage("--manual writes the pages of all commands: name none")
            }
            try writeManual(into: folder)
            return .ok
        }
        var node = Apus.root
        var path = [node.name]
        for word in invocation.operands {
            guard let next = node.nodes.first(where: { $0.name == word }) else {
                throw CommandFailure.usage("there is no command '\((path + [word]).joined(separator: " "))'")
            }
            node = next
            path.append(word)
        }
        invocation.output.write(HelpText.text(of: node, path: path))
        return .ok
    }

    private func writeManual(into folder: String) throws(CommandFailure) {
        let given = getenv("SOURCE_DATE_EPOCH").map { String(cString: $0) }
        guard let seconds = given.map({ Int64($0) }) ?? WallClock.nowMilliseconds() / 1_000 else {
            throw .usage("SOURCE_DATE_EPOCH is '\(given ?? "")'; it takes whole seconds since 1970")
        }
        let date = WallTime(seconds: seconds)
        for page in ManualPage.all(of: Apus.root, date: date) + [.configuration(date: date)] {
            try SimulateFiles.write(page.text, to: "\(folder)/\(page.fileName)", mode: 0o644)
        }
    }
}

/// `apus version`.
struct VersionCommand: Command {
    let name = "version"
    let summary = "Print the version"
    let help = CommandHelp(
        discussion: "Prints the version of this program. 'apus --version' is the same.",
        examples: [
            .init("apus version", "Prints for example: apus \(ProductVersion.current)"),
            .init(
                "apus version --json",
                #"Prints for example: {"name":"apus","version":"\#(ProductVersion.current)"}"#
            ),
        ]
    )
    let options: [CommandOption] = [.json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        invocation.output.line(
            invocation.isJSON
                ? #"{"name":"apus","version":"\#(ProductVersion.current)"}"# : "apus \(ProductVersion.current)"
        )
        return .ok
    }
}

/// Which Apus this is.
enum ProductVersion {
    /// The version, by the rules of semantic versioning.
    static let current = "1.0.0"
}
