/// `apus completion`.
struct CompletionCommand: Command {
    let name = "completion"
    let summary = "Print the script that completes apus in a shell"
    let help = CommandHelp(
        discussion: """
            Prints a script for bash, zsh or fish. It completes commands, options and names of
            files, without starting apus. The Debian package brings all three.
            """,
        examples: [
            .init("source <(apus completion bash)", "Completes in this bash."),
            .init("apus completion zsh > ~/.zsh/functions/_apus", "Completes in each new zsh."),
            .init("apus completion fish > ~/.config/fish/completions/apus.fish", "Completes in each new fish."),
        ]
    )
    let options: [CommandOption] = []
    let operands = Operands.exactly(["SHELL"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let root = Apus.root
        switch invocation.operands.first {
        case "bash": invocation.output.write(BashCompletion.script(of: root))
        case "zsh": invocation.output.write(ZshCompletion.script(of: root))
        case "fish": invocation.output.write(FishCompletion.script(of: root))
        case let shell:
            throw CommandFailure.usage("SHELL is bash, zsh or fish, not '\(shell ?? "")'")
        }
        return .ok
    }
}
