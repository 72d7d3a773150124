import RegistryCore

/// The group `apus device`.
enum DeviceCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "device",
        summary: "Register, show, list, import and remove devices",
        discussion: """
            A device is one installation of an app. Its identifier is yours, or 'device add'
            creates one. Registering a device again renews its token and keeps its
            subscriptions. A token belongs to the device of the app that registered it last. A
            device may also have one token of each further kind ('apus device token').

            registry.url in the configuration names the registry. These commands may be used
            while workers run.
            """,
        nodes: [
            .command(DeviceAddCommand()),
            .command(DeviceRemoveCommand()),
            .command(DeviceListCommand()),
            .command(DeviceShowCommand()),
            .command(DeviceImportCommand()),
            DeviceTokenCommands.node,
        ]
    )
}

/// `apus device list`.
struct DeviceListCommand: Command {
    private static let limit = CommandOption.value(
        "limit", letter: "n", "COUNT", "The most devices to list. Default: all.")
    private static let after = CommandOption.value("after", "DEVICE", "Only devices after this one.")

    let name = "list"
    let summary = "List devices in the order of their identifiers"
    let help = CommandHelp(
        discussion: """
            Lists devices, one a line, ordered by the bytes of their identifiers. A device is
            listed if it meets all conditions. Tokens are shortened unless --show-token is given.

            With --json each line is a JSON object, with the device's further tokens. With
            --json --show-token, 'apus device import' can read the lines; subscriptions are not
            included.
            """,
        examples: [
            .init("apus device list --identity us-east-1:be6f…", "Lists the devices of an identity."),
            .init("apus device list --limit 100 --after phone-100", "Lists the first hundred devices after phone-100."),
            .init("apus device list --json --show-token > devices.ndjson", "Writes all devices to a file."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options =
        [
            DeviceOptions.appFilter, DeviceOptions.identityFilter, DeviceOptions.userFilter, limit, after,
            DeviceOptions.showToken, .json,
        ] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let filter = DeviceFilter(
            app: invocation.string(DeviceOptions.appFilter),
            identityID: invocation.string(DeviceOptions.identityFilter),
            userID: invocation.string(DeviceOptions.userFilter))
        let report = DeviceReport(showsToken: invocation.has(DeviceOptions.showToken))
        let limit = try invocation.integer(Self.limit, in: 1...Int.max) ?? .max
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            invocation.showHeader(DeviceReport.header)
            try invocation.forEachPage(limit: limit) { last, limit in
                try registry.devices(
                    matching: filter, after: last?.deviceID ?? invocation.string(Self.after), limit: limit)
            } _: { devices in
                let tokens = invocation.isJSON ? try registry.tokens(of: devices.map(\.deviceID)) : []
                for (index, device) in devices.enumerated() {
                    invocation.show(report.report(device, tokens[index]), columns: report.columns(device))
                }
            }
        }
        return .ok
    }
}

/// `apus device show`.
struct DeviceShowCommand: Command {
    let name = "show"
    let summary = "Show a device, its tokens and its subscriptions to datasets"
    let help = CommandHelp(
        discussion: """
            Shows a device, its tokens and its datasets. Tokens are shortened unless --show-token
            is given. If the registry has no such device, the exit code is 65.
            """,
        examples: [
            .init("apus device show phone-1", "Shows a device for people."),
            .init("apus device show phone-1 --json --show-token", "Shows it for programs, with whole tokens."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [DeviceOptions.showToken, .json] + CommandOption.configuration
    let operands = Operands.exactly(["DEVICE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let deviceID = invocation.operands[0]
        let report = DeviceReport(showsToken: invocation.has(DeviceOptions.showToken))
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            guard let device = try registry.device(deviceID) else { throw RegistryError.noDevice(deviceID) }
            let subscriptions = try registry.datasetSubscriptions(of: deviceID)
            let tokens = try registry.tokens(of: [deviceID])[0]
            let report = report.report(device, tokens, subscriptions)
            invocation.show(json: report.json, lines: report.lines(gap: 2))
        }
        return .ok
    }
}

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
        return invocation.showRemoval(missing: missing)
    }
}

/// The options that several commands about devices share.
enum DeviceOptions {
    static let app = CommandOption.value("app", "NAME", "The app, by its name in the configuration.", isRequired: true)
    static let appFilter = CommandOption.value("app", "NAME", "Only devices of this app.")
    static let identityFilter = CommandOption.value("identity", "IDENTITY", "Only devices of this identity.")
    static let userFilter = CommandOption.value("user", "USER", "Only devices of this user.")
    static let showToken = CommandOption.flag("show-token", "Print whole tokens, with which pushes can be sent.")
}
