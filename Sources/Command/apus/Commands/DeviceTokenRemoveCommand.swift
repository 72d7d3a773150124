import Notifications
import PushCore

/// `apus device token remove`.
struct DeviceTokenRemoveCommand: Command {
    let name = "remove"
    let summary = "Take the token of a kind from a device"
    let help = CommandHelp(
        discussion: """
            The device stays, with its own token and those of other kinds. If it has none of
            this kind, the exit code is 65.
            """,
        examples: [
            .init("apus device token remove phone-1 --kind voip", "Ends pushes of the type voip to the device."),
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
