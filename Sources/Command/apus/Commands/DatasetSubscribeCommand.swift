import PushCore

/// `apus dataset subscribe`.
struct DatasetSubscribeCommand: Command {
    let name = "subscribe"
    let summary = "Subscribe a device to datasets of its identity"
    let help = CommandHelp(
        discussion: """
            Subscribes a device, which must have an identity, to datasets by their names. A dataset
            need not exist yet. An existing subscription stays.
            """,
        examples: [
            .init("apus dataset subscribe phone-1 settings", "Subscribes to one dataset."),
            .init("apus dataset subscribe phone-1 settings profile", "Subscribes to two."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.oneOrMore("DEVICE DATASET")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let (deviceID, names) = try DatasetReport.operands(invocation)
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            for name in names { try registry.subscribe(deviceID, toDataset: name) }
            try DatasetReport.write(deviceID, registry, invocation)
        }
        return .ok
    }
}
