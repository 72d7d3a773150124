import Notifications
import PushCore

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
