import PushCore

/// `apus device show`.
struct DeviceShowCommand: Command {
    let name = "show"
    let summary = "Show one device, its tokens and the datasets that it subscribed to"
    let help = CommandHelp(
        discussion: """
            Shows what the registry knows of a device. Tokens are shortened unless
            --show-token is given. A device that is not there gives the exit code 65.
            """,
        examples: [
            .init("apus device show phone-1", "Shows a device to a person."),
            .init("apus device show phone-1 --json --show-token", "Shows it to a program, with its whole tokens."),
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
