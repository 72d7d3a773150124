import Essentials
import EventLoop
import RegistryAPI
import RegistryCore

/// The group `apus registry token`.
enum TokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Create, list and remove tokens of the registry's API",
        discussion: """
            A backend sends a token with each request: Authorization: Bearer TOKEN. A token is for
            one app or for all, to read, to write, or to publish events. The registry keeps only its SHA-256, so a lost
            token has to be replaced. These commands may be used while the API is served; changes
            apply from the next request on.
            """,
        nodes: [.command(TokenAddCommand()), .command(TokenListCommand()), .command(TokenRemoveCommand())]
    )
}

/// `apus registry token add`.
struct TokenAddCommand: Command {
    private static let app = CommandOption.value("app", "APP", "The app of the token. Default: all apps.")
    private static let permission = CommandOption.value(
        "permission", "WHAT", "read; write, which includes read; or publish, for events alone. Default: read.")

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
                "apus registry token add shop --app chat --permission publish",
                "Creates a token that may publish events of the app 'chat', and nothing else."),
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
            throw CommandFailure.usage("--permission takes read, write or publish, not '\(permissionName)'")
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
            invocation.show(["name": name, "token": token.revealed], token.revealed)
        }
        return .ok
    }
}

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
            invocation.showHeader(["NAME", "APP", "PERMISSION", "CREATED"])
            for token in try registry.tokens() {
                let (permission, createdAt) = (token.permission.rawValue, token.createdAtMilliseconds)
                invocation.show(
                    ["name": token.name, "app": token.app, "permission": permission, "createdAt": createdAt],
                    columns: [token.name, token.app ?? "*", permission, WallTime.text(milliseconds: createdAt)])
            }
        }
        return .ok
    }
}

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
        return invocation.showRemoval(missing: missing)
    }
}
