import EventLoop
import Notifications
import RegistryCore

/// The group `apus device token`.
enum DeviceTokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Register tokens for VoIP, Live Activities, widgets and other push types",
        discussion: """
            A device's own token is for pushes of the types alert and background. iOS provides a
            further token for each of these kinds: \(DeviceTokenOptions.kinds.prefix(4).joined(separator: ", ")),
            \(DeviceTokenOptions.kinds.dropFirst(4).joined(separator: ", ")). A push of such a
            type goes to the device's token of that kind; devices without one are skipped. The
            token of a running Live Activity is not registered: name it in the event.
            """,
        nodes: [.command(DeviceTokenAddCommand()), .command(DeviceTokenRemoveCommand())]
    )
}

/// `apus device token add`.
struct DeviceTokenAddCommand: Command {
    private static let token = CommandOption.value(
        "token", "HEX", "The token in hexadecimal digits, 1 to 256 bytes.", isRequired: true)

    let name = "add"
    let summary = "Register a further token of a device, or renew it"
    let help = CommandHelp(
        discussion: """
            Registers the token now, in place of the device's token of this kind. Another device
            of the app with this token of this kind loses it. Registering the device again keeps
            the token, unless the device changes its app.
            """,
        examples: [
            .init(
                "apus device token add phone-1 --kind voip --token "
                    + "5a11adff785122b4ad28809a3420982341241421348097878e577c991de8f0cc",
                "Lets pushes of the type voip reach the device."),
            .init(
                "apus device token add phone-1 --kind liveactivity --token 0a3f…",
                "Registers the token that starts Live Activities on the device."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [DeviceTokenOptions.kind, token] + CommandOption.configuration
    let operands = Operands.exactly(["DEVICE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let further = FurtherToken(
            deviceID: invocation.operands[0], kind: try DeviceTokenOptions.kind(invocation),
            token: try DeviceTokenOptions.token(try invocation.required(Self.token)),
            registeredAtMilliseconds: WallClock.nowMilliseconds())
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in try registry.saveTokens([further]) }
        return .ok
    }
}

/// `apus device token remove`.
struct DeviceTokenRemoveCommand: Command {
    let name = "remove"
    let summary = "Remove a further token of a device"
    let help = CommandHelp(
        discussion: """
            Removes one further token; the device and its other tokens stay. If the device has no
            token of this kind, the exit code is 65.
            """,
        examples: [
            .init("apus device token remove phone-1 --kind voip", "Stops pushes of the type voip to the device."),
            .init("apus device show phone-1", "Shows which kinds a device has."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [DeviceTokenOptions.kind] + CommandOption.configuration
    let operands = Operands.exactly(["DEVICE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let deviceID = invocation.operands[0]
        let kind = try DeviceTokenOptions.kind(invocation)
        var isRemoved = false
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            isRemoved = try registry.removeToken(kind, of: deviceID)
        }
        if !isRemoved { StandardError.line("not found: a \(kind.rawValue) token of \(deviceID)") }
        return isRemoved ? .ok : .data
    }
}

/// The option that the commands about further tokens share.
enum DeviceTokenOptions {
    static let kind = CommandOption.value(
        "kind", "KIND", "The push type that the token is for: \(kinds.joined(separator: ", ")).", isRequired: true)

    /// The names of the kinds.
    static let kinds = TokenKind.further.map(\.rawValue)

    /// Reads a kind of token that a device has beside its own.
    static func kind(_ invocation: CommandInvocation) throws(CommandFailure) -> TokenKind {
        let name = try invocation.required(kind)
        guard let kind = TokenKind(rawValue: name), kind != .alert else {
            let alert = "'apus device add' sets the alert token"
            throw .usage("--kind takes one of \(kinds.joined(separator: ", ")), not '\(name)'; \(alert)")
        }
        return kind
    }

    /// Reads hexadecimal digits.
    static func token(_ digits: String) throws(CommandFailure) -> DeviceToken {
        guard let token = DeviceToken(hexadecimal: digits) else {
            throw .usage("--token is invalid: it must be \(DeviceToken.requirement(brokenBy: digits))")
        }
        return token
    }
}
