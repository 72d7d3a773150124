import Essentials
import EventLoop
import JSON
import PushCore
import RegistryAPI

/// `apus registry token add`.
struct TokenAddCommand: Command {
    private static let app = CommandOption.value("app", "APP", "The app of the token. Default: all apps.")
    private static let permission = CommandOption.value(
        "permission", "WHAT", "read, or write, which includes read. Default: read.")

    let name = "add"
    let summary = "Create a token and print it once"
    let help = CommandHelp(
        discussion: """
            Creates a random token, keeps its SHA-256 under the given name, and prints the token. It
            cannot be shown again. A missing registry is created.
            """,
        examples: [
            .init(
                "apus registry token add chat-backend --app chat --permission write",
                "Creates a token that may register devices of the app 'chat'."),
            .init(
                "curl -H \"Authorization: Bearer $(apus registry token add me)\" http://127.0.0.1:8080/v1/devices",
                "Lists devices with a new token."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [app, permission, .json] + CommandOption.configuration
    let operands = Operands.exactly(["NAME"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let name = invocation.operands[0]
        let permissionName = invocation.string(Self.permission) ?? APIToken.Permission.read.rawValue
        guard let permission = APIToken.Permission(rawValue: permissionName) else {
            throw CommandFailure.usage("--permission takes read or write, not '\(permissionName)'")
        }
        let app = invocation.string(Self.app)
        try DeviceRegistry.use(invocation, mode: .create) { registry, configuration in
            guard try registry.tokens().allSatisfy({ !$0.name.hasBytes(of: name) }) else {
                throw CommandFailure(
                    .data, "the token \"\(name)\" already exists; remove it first, or choose another name")
            }
            let token = BearerToken.random()
            try registry.saveToken(
                APIToken(
                    name: name, digest: token.digest, app: app, permission: permission,
                    createdAtMilliseconds: WallClock.nowMilliseconds()))
            if let app { DeviceRegistry.warnUnlessConfigured([app], configuration) }
            guard invocation.isJSON else { return invocation.output.line(token.revealed) }
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("name")
            writer.string(name)
            writer.key("token")
            writer.string(token.revealed)
            writer.endObject()
            invocation.output.line(writer.bytes)
        }
        return .ok
    }
}
