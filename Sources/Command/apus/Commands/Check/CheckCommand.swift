import WorkerConfiguration

/// `apus check`.
struct CheckCommand: Command {
    private static let connect = CommandOption.flag(
        "connect", "Also try the broker, its queues, the registry, the keys and the push services.")
    private static let showsValues = CommandOption.flag(
        "values", "Print the value of every key and its origin; passwords are redacted.")

    let name = "check"
    let summary = "Check the configuration and report every problem"
    let help = CommandHelp(
        discussion: """
            Reads the configuration and prints every problem at once: the file and line, the
            key, the mistake, and the remedy.

            A key's value comes from the first of: --set KEY=VALUE, the environment, the file,
            the default. The variable of rabbitmq.url is APUS_RABBITMQ_URL, and that of the
            first app's app.0.apns.key_id is APUS_APP_0_APNS_KEY_ID. APUS_RABBITMQ_URL_FILE
            names a file with the URL, as container platforms provide secrets.

            With --connect it also logs in to the broker, compares exchanges and queues, opens
            the registry, reads the keys, fetches access tokens of FCM and ADM, and completes a
            TLS handshake with each push service. Of browsers' push services it tries those of
            webpush.trusted_hosts that name a port, or else those of Google, Mozilla and Apple
            and of webpush.known_hosts. If relay.url is set, it tries the outbox. It sends no
            push and creates nothing. Run 'apus topology apply' before, and create the registry,
            for example with 'apus device add' or 'apus registry token add'.
            """,
        examples: [
            .init("apus check", "Checks apus.toml in this folder."),
            .init("apus check --connect --config /etc/apus/apus.toml", "Tries everything that a worker needs."),
            .init("apus check --values", "Shows the value of each key, and its origin."),
            .init("apus check --json | jq .problems", "Prints the problems for a program."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration])
    let options = CommandOption.configuration + [connect, showsValues, .json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var report = CheckReport(isJSON: invocation.isJSON, output: invocation.output)
        let loader = try invocation.configurationLoader()
        let loaded: LoadedConfiguration
        do throws(ConfigurationError) {
            loaded = try loader.load(for: .check)
        } catch {
            report.add(problems: error.problems, warnings: error.warnings)
            report.finish(path: error.path, values: nil)
            return .configuration
        }
        report.add(problems: [], warnings: loaded.warnings)
        _ = try invocation.traceExport()
        let showsValues = invocation.has(Self.showsValues) || invocation.isJSON
        if invocation.has(Self.connect) {
            await ConnectionProbes.run(for: loaded.configuration) { report.add($0, $1) }
        }
        report.finish(path: loaded.path, values: showsValues ? loaded : nil)
        return report.exitCode
    }
}
