import Essentials
import JSON
import PushCore

/// `apus registry token list`.
struct TokenListCommand: Command {
    let name = "list"
    let summary = "List tokens by name, without their values"
    let help = CommandHelp(
        discussion: "Lists name, app, permission and creation time; with --json one object a line.",
        examples: [.init("apus registry token list", "Lists all tokens.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            if !invocation.isJSON { invocation.output.line("NAME\tAPP\tPERMISSION\tCREATED") }
            for token in try registry.tokens() {
                if invocation.isJSON {
                    invocation.output.line(Self.json(token))
                } else {
                    let values = [
                        token.name, token.app ?? "*", token.permission.rawValue,
                        WallTime.text(milliseconds: token.createdAtMilliseconds),
                    ]
                    invocation.output.line(values.map { $0.printable() }.joined(separator: "\t"))
                }
            }
        }
        return .ok
    }

    private static func json(_ token: APIToken) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("name")
        writer.string(token.name)
        if let app = token.app {
            writer.key("app")
            writer.string(app)
        }
        writer.key("permission")
        writer.string(token.permission.rawValue)
        writer.key("createdAt")
        writer.integer(token.createdAtMilliseconds)
        writer.endObject()
        return writer.bytes
    }
}
