import PushCore

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
            if invocation.isJSON {
                invocation.output.line(report.json(device, tokens, subscriptions))
            } else {
                invocation.output.write(report.text(device, tokens, subscriptions))
            }
        }
        return .ok
    }
}
