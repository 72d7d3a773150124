import PushCore

/// `apus registry token remove`.
struct TokenRemoveCommand: Command {
    let name = "remove"
    let summary = "Remove tokens"
    let help = CommandHelp(
        discussion: """
            Removes tokens by their names; they are invalid from then on. A missing token is
            reported, the others are removed, and the exit code is 65.
            """,
        examples: [.init("apus registry token remove chat-backend", "Removes one token.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.oneOrMore("NAME")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var missing: [String] = []
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            for name in invocation.operands where try !registry.removeToken(named: name) { missing.append(name) }
        }
        let removed = invocation.operands.count - missing.count
        for name in missing { StandardError.line("not found: \(name)") }
        if invocation.isJSON {
            invocation.output.line(DeviceCounts.removal(removed: removed, notFound: missing))
        } else {
            invocation.output.line("removed \(removed)")
        }
        return missing.isEmpty ? .ok : .data
    }
}
