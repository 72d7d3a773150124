import PushCore

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
