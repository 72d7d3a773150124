import PushCore

/// `apus dataset subscribe-all`.
struct DatasetSubscribeAllCommand: Command {
    private static let dataset = CommandOption.value(
        "dataset", "NAME", "Only this one of the known datasets. Repeatable.")
    private static let future = CommandOption.flag("future", "Datasets that the identity gets later, too.")

    let name = "subscribe-all"
    let summary = "Subscribe a device to every dataset known of its identity"
    let help = CommandHelp(
        discussion: """
            Subscribes a device to every dataset that the registry knows of its identity: those
            that changed since a worker ran, and those that some device subscribed to. With
            --future, datasets that come later count as well; without it, a device that was
            subscribed to datasets to come is so no more.
            """,
        examples: [
            .init("apus dataset subscribe-all phone-1 --future", "All datasets, now and later."),
            .init("apus dataset subscribe-all phone-1", "All datasets known now, none that come later."),
            .init(
                "apus dataset subscribe-all phone-1 --dataset settings --dataset profile",
                "Two datasets, both of which must be known."),
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
