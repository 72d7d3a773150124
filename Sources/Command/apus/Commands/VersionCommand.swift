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
