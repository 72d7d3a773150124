import PushCore

/// `apus dataset unsubscribe`.
struct DatasetUnsubscribeCommand: Command {
    private static let future = CommandOption.flag("future", "Also end the subscription to future datasets.")

    let name = "unsubscribe"
    let summary = "End subscriptions of a device to datasets"
    let help = CommandHelp(
        discussion: """
            Ends subscriptions. A missing subscription is reported, and the exit code is 65. With
            --future the subscription to future datasets ends too; other subscriptions stay.
            """,
        examples: [
            .init("apus dataset unsubscribe phone-1 settings", "Ends one subscription."),
            .init("apus dataset unsubscribe phone-1 --future", "Ends the subscription to future datasets."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [future, .json] + CommandOption.configuration
    let operands = Operands.oneOrMore("DEVICE [DATASET]")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let isFuture = invocation.has(Self.future)
        let (deviceID, names) = try DatasetReport.operands(invocation, mayBeOnlyDevice: isFuture)
        var missing: [String] = []
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            guard try registry.device(deviceID) != nil else { throw RegistryError.noDevice(deviceID) }
            for name in names where try !registry.unsubscribe(deviceID, fromDataset: name) { missing.append(name) }
            if isFuture { _ = try registry.subscribeToAllDatasets(deviceID, names: [], includingFuture: false) }
            try DatasetReport.write(deviceID, registry, invocation)
        }
        for name in missing { StandardError.line("was not subscribed: \(name)") }
        return missing.isEmpty ? .ok : .data
    }
}
