import RegistryCore

/// The group `apus dataset`.
enum DatasetCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "dataset",
        summary: "Subscribe devices to the datasets of their identities",
        discussion: """
            A dataset belongs to an identity, and so may a device. When a dataset changes, every
            subscribed device of the identity gets a silent push, except the device that made the
            change.
            """,
        nodes: [
            .command(DatasetSubscribeCommand()),
            .command(DatasetUnsubscribeCommand()),
            .command(DatasetSubscribeAllCommand()),
            .command(DatasetListCommand()),
        ]
    )
}

/// `apus dataset list`.
struct DatasetListCommand: Command {
    let name = "list"
    let summary = "List the datasets of a device's subscriptions"
    let help = CommandHelp(
        discussion: """
            Lists the names, one a line. A line with * means that future datasets of the identity
            are included.
            """,
        examples: [
            .init("apus dataset list phone-1", "Prints the names."),
            .init(
                "apus dataset list phone-1 --json",
                #"Prints for example: {"deviceId":"phone-1","datasets":["settings"],"futureDatasets":false}"#),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.exactly(["DEVICE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            try DatasetReport.write(invocation.operands[0], registry, invocation)
        }
        return .ok
    }
}

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

/// The common parts of the commands about datasets: their operands and their output.
enum DatasetReport {
    /// The device and the datasets that were named.
    ///
    /// - Parameters:
    ///   - invocation: the use of the command.
    ///   - mayBeOnlyDevice: whether the datasets may be left out.
    /// - Returns: the identifier and the names.
    /// - Throws: `CommandFailure` if no dataset was named.
    static func operands(
        _ invocation: CommandInvocation, mayBeOnlyDevice: Bool = false
    ) throws(CommandFailure) -> (deviceID: String, names: [String]) {
        let names = Array(invocation.operands.dropFirst())
        guard let deviceID = invocation.operands.first else { throw .usage("DEVICE is missing") }
        guard mayBeOnlyDevice || !names.isEmpty else { throw .usage("DATASET is missing") }
        return (deviceID, names)
    }

    /// Prints the device's current subscriptions.
    static func write(_ deviceID: String, _ registry: any Registry, _ invocation: CommandInvocation) throws {
        let subscriptions = try registry.datasetSubscriptions(of: deviceID)
        let report = ["deviceId": deviceID] + DeviceReport.report(subscriptions)
        invocation.show(
            json: report.json, lines: subscriptions.datasetNames + (subscriptions.includesFuture ? ["*"] : []))
    }
}
