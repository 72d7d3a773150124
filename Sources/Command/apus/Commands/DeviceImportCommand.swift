import Dispatcher
import EventLoop
import JSON
import Notifications
import RegistryCore
import WorkerConfiguration

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
              platform        required: APNS, APNS_SANDBOX, GCM, ADM, WEB_PUSH or WEB
              token           required, but for WEB_PUSH: for GCM and ADM the text, else
                              hexadecimal digits; those of GCM may be in digits, too
              target          what Google takes the token for, token or fid; default: what
                              it looks like
              subscription    required for WEB_PUSH: the browser's PushSubscription as JSON
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
        let start = MonotonicClock.nowNanoseconds()
        let result = try LineReader.withFile(invocation.operands.first ?? "-") { reader in
            if invocation.has(Self.dryRun) { return try DeviceImport(reader: reader).run { _ in } }
            return try DeviceRegistry.use(invocation, mode: .create, quotas: .unlimited) { registry, configuration in
                var lines = DeviceImport(reader: reader)
                lines.courierKey = try registry.courierKey()
                lines.pushHosts = configuration.webPush.hosts
                let result = try lines.run { try registry.register($0) }
                DeviceRegistry.warnUnlessConfigured(result.apps, configuration)
                return result
            }
        }
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        let verb = invocation.has(Self.dryRun) ? "checked" : "imported"
        let bad = result.badLines == 0 ? "" : ", \(result.badLines) invalid lines"
        invocation.show(
            [
                "imported": result.imported, "badLines": result.badLines, "lines": result.lines,
                "durationSeconds": seconds,
            ], "\(verb) \(result.imported) devices\(bad)")
        return result.badLines == 0 ? .ok : .data
    }
}

/// Reads devices from lines and hands them on in steps.
struct DeviceImport {
    /// How an import went.
    struct Result {
        /// Devices handed on.
        var imported = 0
        /// Lines that were reported.
        var badLines = 0
        /// Lines read, empty ones included.
        var lines = 0
        /// The apps of the devices.
        var apps: Set<String> = []
    }

    /// How many devices make a step: large enough that a commit costs little, small enough to show progress.
    private static let stepCount = 5_000
    /// More bad lines than this are only counted, so that a wrong file does not flood the terminal.
    private static let reportsMaximum = 1_000
    /// More apps than this are not remembered: a configuration has a few.
    private static let appsMaximum = 100

    let reader: LineReader
    /// The key of the registry's servers, which tells the tokens of `WEB` clients; nil if no registry is open.
    var courierKey: CourierKey?
    /// To which hosts pushes to browsers go; nil to believe the lines.
    var pushHosts: PushHostRule?

    /// Runs to the end of the lines.
    ///
    /// - Parameter register: takes the devices of a step.
    /// - Returns: the counts.
    /// - Throws: `CommandFailure` if the lines cannot be read, and what `register` throws.
    func run(_ register: ([DeviceRegistration]) throws -> Void) throws -> Result {
        var result = Result()
        var step: [DeviceRegistration] = []
        step.reserveCapacity(Self.stepCount)
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: LineReader.lineBytesMaximum)
        let progress = ProgressLine()
        let now = WallClock.nowMilliseconds()
        func finishStep() throws {
            try register(step)
            result.imported += step.count
            step.removeAll(keepingCapacity: true)
            progress.update("imported \(result.imported), invalid lines \(result.badLines)")
        }
        while let line = try reader.next() {
            result.lines += 1
            do {
                guard let registration = try registration(line, parser: parser, now: now) else { continue }
                step.append(registration)
                if result.apps.count < Self.appsMaximum { result.apps.insert(registration.device.app) }
            } catch {
                result.badLines += 1
                report(error, line: result.lines, count: result.badLines)
            }
            if step.count == Self.stepCount { try finishStep() }
        }
        if !step.isEmpty { try finishStep() }
        progress.finish()
        return result
    }

    private func registration(
        _ line: LineReader.Line, parser: JSONParser, now: Int64
    ) throws(DeviceLineProblem) -> DeviceRegistration? {
        guard case .bytes(let bytes) = line else {
            throw DeviceLineProblem("longer than \(LineReader.lineBytesMaximum) bytes")
        }
        let isBlank = bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == 9 }
        guard !isBlank else { return nil }
        let registration = try DeviceLine.parse(bytes, parser: parser, now: now, courierKey: courierKey)
        if registration.device.platform == .webPush,
            let problem = pushHosts?.problem(ofEndpoint: registration.device.token.bytes)
        {
            throw DeviceLineProblem(
                "the endpoint of \"subscription\" is refused: \(problem); webpush.trusted_hosts names exceptions")
        }
        return registration
    }

    private func report(_ problem: DeviceLineProblem, line: Int, count: Int) {
        if count <= Self.reportsMaximum {
            StandardError.line("line \(line): \(problem.message)")
        } else if count == Self.reportsMaximum + 1 {
            StandardError.line("more lines are invalid; they are only counted")
        }
    }
}
