import EventLoop
import Glibc
import PushCore

/// `apus device import`.
struct DeviceImportCommand: Command {
    private static let dryRun = CommandOption.flag("dry-run", "Only check the lines; the registry is not opened.")

    let name = "import"
    let summary = "Register many devices from a file or standard input"
    let help = CommandHelp(
        discussion: """
            Reads one JSON object a line (NDJSON) from a file, or from standard input if there
            is none or it is '-', and registers each as 'device add' does. Members:

              deviceId        required, 1 to 256 bytes
              platform        required: APNS, APNS_SANDBOX, GCM or WEB
              token           required, hexadecimal digits, 1 to 256 bytes
              app             required: the app's name in the configuration
              identityPoolId  with identityId: who uses the device
              identityId
              userId          your own name of the user
              registeredAt    milliseconds since 1970; default: now
              datasets        names of datasets to subscribe to
              topics          names of topics to subscribe to

            A line that is not right is reported on standard error with its number and what is
            wrong with it; the others are imported, and the exit code is 65. Lines are kept in
            steps of 5000, so what was imported before an interruption stays, and importing the
            same file again does no harm. Memory does not grow with the file. Quotas, which hold
            for clients of the API and other commands, do not hold for an import.
            """,
        examples: [
            .init("apus device import devices.ndjson", "Imports a file, with progress on standard error."),
            .init("zcat devices.gz | apus device import", "Imports from another program."),
            .init(
                #"echo '{"deviceId":"d1","platform":"APNS","token":"ab12","app":"chat"}' | apus device import"#,
                "Imports one device."),
            .init("apus device import --dry-run devices.ndjson", "Only says which lines are not right."),
        ],
        exitCodes: DeviceRegistry.exitCodes + [.noInput]
    )
    let options = [dryRun, .json] + CommandOption.configuration
    let operands = Operands.optional("FILE")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let path = invocation.operands.first ?? "-"
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.noInput, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        let start = MonotonicClock.nowNanoseconds()
        let reader = DeviceLineReader(descriptor: descriptor, name: path == "-" ? "standard input" : path)
        let result =
            if invocation.has(Self.dryRun) {
                try DeviceImport(reader: reader, courierKey: nil).run { _ in }
            } else {
                try DeviceRegistry.use(invocation, mode: .create, quotas: .unlimited) { registry, configuration in
                    let lines = DeviceImport(reader: reader, courierKey: try registry.courierKey())
                    let result = try lines.run { try registry.register($0) }
                    DeviceRegistry.warnUnlessConfigured(result.apps, configuration)
                    return result
                }
            }
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        if invocation.isJSON {
            invocation.output.line(DeviceCounts.importing(result, seconds: seconds))
        } else {
            let verb = invocation.has(Self.dryRun) ? "checked" : "imported"
            let bad = result.badLines == 0 ? "" : ", \(result.badLines) bad lines"
            invocation.output.line("\(verb) \(result.imported) devices\(bad)")
        }
        return result.badLines == 0 ? .ok : .data
    }
}
