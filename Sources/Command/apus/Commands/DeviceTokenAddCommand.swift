import EventLoop
import PushCore

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
