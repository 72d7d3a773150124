import PushCore

/// `apus dataset subscribe-all`.
struct DatasetSubscribeAllCommand: Command {
    private static let dataset = CommandOption.value(
        "dataset", "NAME", "Only this known dataset. Repeatable.")
    private static let future = CommandOption.flag("future", "Include future datasets of the identity.")

    let name = "subscribe-all"
    let summary = "Subscribe a device to every known dataset of its identity"
    let help = CommandHelp(
        discussion: """
            Subscribes a device to every known dataset of its identity: datasets that changed since
            a worker first ran, and datasets to which a device subscribed. With --future, datasets
            of the future are included; without it, an earlier --future ends.
            """,
        examples: [
            .init("apus dataset subscribe-all phone-1 --future", "Subscribes to all datasets, now and in future."),
            .init("apus dataset subscribe-all phone-1", "Subscribes to all known datasets only."),
            .init(
                "apus dataset subscribe-all phone-1 --dataset settings --dataset profile",
                "Subscribes to two datasets, which must be known."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [dataset, future, .json] + CommandOption.configuration
    let operands = Operands.exactly(["DEVICE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let names = invocation.strings(Self.dataset)
        let deviceID = invocation.operands[0]
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            _ = try registry.subscribeToAllDatasets(
                deviceID, names: names.isEmpty ? nil : names, includingFuture: invocation.has(Self.future))
            try DatasetReport.write(deviceID, registry, invocation)
        }
        return .ok
    }
}
