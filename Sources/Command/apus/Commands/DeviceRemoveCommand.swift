import PushCore

/// `apus device remove`.
struct DeviceRemoveCommand: Command {
    let name = "remove"
    let summary = "Remove devices and their subscriptions"
    let help = CommandHelp(
        discussion: """
            Removes devices by their identifiers. A missing device is reported, the others are
            removed, and the exit code is 65.
            """,
        examples: [
            .init("apus device remove phone-1", "Removes one device."),
            .init(
                "apus device remove phone-1 phone-2 --json",
                #"Prints for example: {"removed":1,"notFound":["phone-2"]}"#),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.oneOrMore("DEVICE")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var missing: [String] = []
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            for deviceID in invocation.operands where try !registry.removeDevice(deviceID) { missing.append(deviceID) }
        }
        let removed = invocation.operands.count - missing.count
        for deviceID in missing { StandardError.line("not found: \(deviceID)") }
        if invocation.isJSON {
            invocation.output.line(DeviceCounts.removal(removed: removed, notFound: missing))
        } else {
            invocation.output.line("removed \(removed)")
        }
        return missing.isEmpty ? .ok : .data
    }
}
