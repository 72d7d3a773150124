import EventLoop
import Glibc
import PushCore

/// `apus device import`.
struct DeviceImportCommand: Command {
    private static let dryRun = CommandOption.flag("dry-run", "Only check the lines, without opening the registry.")

    let name = "import"
    let summary = "Register many devices from a file or standard input"
    let help = CommandHelp(
        discussion: """
            Reads one JSON object a line (NDJSON) and registers each as 'device add' does. Without
            FILE, or with '-', it reads standard input. Members:

              deviceId        required, 1 to 256 bytes
              platform        required: APNS, APNS_SANDBOX, GCM or WEB
              token           required, hexadecimal digits, 1 to 256 bytes
              app             required: the app's name in the configuration
              identityPoolId  the identity pool; needs identityId
              identityId      the identity that uses the device
              userId          your name of the user
              registeredAt    milliseconds since 1970; default: now
              datasets        names of datasets to subscribe to
              topics          names of topics to subscribe to

              tokens          further tokens by kind, for example {"voip": "5a11…"}

            An invalid line is reported on standard error with its number and the mistake, the
            other lines are imported, and the exit code is 65. Lines are committed in steps of
            5000: an interrupted import keeps the steps before, and the same file can be
            imported again. Memory does not grow with the file. Quotas do not apply to an
            import.
            """,
        examples: [
            .init("apus device import devices.ndjson", "Imports a file, with progress on standard error."),
            .init("zcat devices.gz | apus device import", "Imports from another program."),
            .init(
                #"echo '{"deviceId":"d1","platform":"APNS","token":"ab12","app":"chat"}' | apus device import"#,
                "Imports one device."),
            .init("apus device import --dry-run devices.ndjson", "Only reports invalid lines."),
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
            let bad = result.badLines == 0 ? "" : ", \(result.badLines) invalid lines"
            invocation.output.line("\(verb) \(result.imported) devices\(bad)")
        }
        return result.badLines == 0 ? .ok : .data
    }
}
