import PushCore

/// `apus device list`.
struct DeviceListCommand: Command {
    private static let pageSize = 1_000
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
        var remaining = try invocation.integer(Self.limit, in: 1...Int.max) ?? .max
        var after = invocation.string(Self.after)
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            if !invocation.isJSON { invocation.output.line(DeviceReport.header) }
            while remaining > 0, !invocation.output.isBroken {
                let count = min(remaining, Self.pageSize)
                let devices = try registry.devices(matching: filter, after: after, limit: count)
                if invocation.isJSON {
                    for (device, tokens) in zip(devices, try registry.tokens(of: devices.map(\.deviceID))) {
                        invocation.output.line(report.json(device, tokens))
                    }
                } else {
                    for device in devices { invocation.output.line(report.line(device)) }
                }
                guard devices.count == count else { return }
                after = devices.last?.deviceID
                remaining -= count
            }
        }
        return .ok
    }
}
