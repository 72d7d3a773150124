import PushCore

/// `apus dataset unsubscribe`.
struct DatasetUnsubscribeCommand: Command {
    private static let future = CommandOption.flag("future", "Give up datasets to come, too.")

    let name = "unsubscribe"
    let summary = "End subscriptions of a device to datasets"
    let help = CommandHelp(
        discussion: """
            Ends subscriptions. One that was not there is named, and the exit code is 65. With
            --future the device is not subscribed any more to datasets that come later; the
            subscriptions that it has stay.
            """,
        examples: [
            .init("apus dataset unsubscribe phone-1 settings", "Ends one subscription."),
            .init("apus dataset unsubscribe phone-1 --future", "Gives up the datasets to come."),
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
