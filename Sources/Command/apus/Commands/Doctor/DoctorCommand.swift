import ChangeQueue
import Dispatcher
import Essentials
import EventLoop
import HTTPClient
import RegistryCore
import WorkerConfiguration

/// `apus doctor`.
struct DoctorCommand: Command {
    private static let folder = CommandOption.value(
        "output", letter: "o", "FOLDER", "The folder to create. Default: apus-doctor-TIME in this folder.")
    private static let log = CommandOption.value(
        "log", "FILE", "A log in JSON, whose last warnings and errors are taken along.")
    /// How long the worker may take to answer.
    private static let answerSeconds = 5

    let name = "doctor"
    let summary = "Collect a support bundle without secrets"
    let help = CommandHelp(
        discussion: """
            Creates a folder of text files that help to find out what is wrong: versions, the
            configuration in force, the results of 'apus check --connect' and 'apus topology
            check', the depths of the queues, the numbers of dead letters by reason, and what
            the worker at [admin] listen answers to /readyz, /livez, /version and /metrics.

            The files hold no passwords, keys, payloads or whole device tokens. They do hold
            names of hosts, queues, apps and files, and a log also identifiers of events. Look
            through them before you send them. 'tar -czf' makes one file of the folder.

            It changes nothing. What cannot be had is listed with the reason, for example a
            worker that does not run, and the command still succeeds.
            """,
        examples: [
            .init("apus doctor", "Collects what can be had."),
            .init(
                "apus doctor --log worker.log --output bundle && tar -czf bundle.tgz bundle",
                "Takes the last errors of a log along, and makes one file of all."),
        ],
        exitCodes: [.noInput, .cannotCreate, .inputOutput])
    let options = CommandOption.configuration + [folder, log, .json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let excerpt = try invocation.string(Self.log).map { path throws(CommandFailure) in try LogExcerpt.read(path) }
        let (loaded, problems) = try load(invocation)
        var bundle = try SupportBundle(
            path: invocation.string(Self.folder) ?? Self.standardPath,
            redaction: Redaction(secrets: loaded?.configuration.secrets ?? []))
        try bundle.add(
            "system.txt", "the versions, and the machine",
            SystemDescription.text(environment: ProcessEnvironment.variables))
        if !problems.isEmpty {
            try bundle.add("problems.txt", "what is wrong with the configuration", problems.joined(separator: "\n"))
        }
        if let loaded {
            try bundle.add("configuration.txt", "the values in force, and their origins", loaded.effectiveText)
            try Self.askWorker(loaded.configuration.admin, into: &bundle)
            try Self.countDeadLetters(loaded.configuration, into: &bundle)
            try await Self.check(loaded.configuration, into: &bundle)
        }
        if let excerpt {
            try bundle.add("log.ndjson", "the last warnings and errors of the log", excerpt.joined(separator: "\n"))
        }
        show(bundle, invocation)
        return .ok
    }

    private static var standardPath: String {
        let time = WallTime.text(milliseconds: WallClock.nowMilliseconds()).prefix { $0 != "." }
        return "apus-doctor-\(time.filter { $0.isNumber || $0 == "T" })"
    }

    /// Loads the configuration as a worker does, or else as far as it can be used.
    private func load(
        _ invocation: CommandInvocation
    ) throws(CommandFailure) -> (loaded: LoadedConfiguration?, problems: [String]) {
        let loader = try invocation.configurationLoader()
        do throws(ConfigurationError) {
            let loaded = try loader.load(for: .worker)
            return (loaded, loaded.warnings.map { "warning: \($0)" })
        } catch {
            let problems = error.problems.map { "error: \($0)" } + error.warnings.map { "warning: \($0)" }
            return (try? loader.load(for: .tool), problems)
        }
    }

    private static func askWorker(
        _ admin: Configuration.Admin, into bundle: inout SupportBundle
    ) throws(CommandFailure) {
        let paths = [
            ("readyz", "whether the worker does its job, and why not"), ("livez", "whether its loops turn"),
            ("version", "the version that runs"), ("metrics", "all metrics"),
        ]
        var client = HTTPClient()
        client.timeoutSeconds = answerSeconds
        client.bytesMaximum = 64 * 1_024 * 1_024
        for (path, note) in paths {
            let name = path == "metrics" ? "metrics.txt" : "\(path).json"
            guard let listen = admin.listen, listen.port != 0 else {
                bundle.lacks(name, because: "admin.listen names no port")
                continue
            }
            let isWildcard = ["0.0.0.0", "::", ""].contains(listen.host)
            let address = isWildcard ? HostPort(host: "127.0.0.1", port: listen.port) : listen
            let answer: HTTPClient.Answer
            do throws(HTTPClient.Failure) {
                answer = try client.get("http://\(address)/\(path)")
            } catch {
                bundle.lacks(name, because: "no worker answers at \(address): \(error)")
                continue
            }
            let body = String(decoding: answer.body, as: UTF8.self)
            try bundle.add(name, "\(note) (status \(answer.status))", body)
        }
    }

    /// Counts the letters that are in the registry; those in the queue stay there, and are counted with the queues.
    private static func countDeadLetters(
        _ configuration: Configuration, into bundle: inout SupportBundle
    ) throws(CommandFailure) {
        let name = "dead-letters.txt"
        let counts: [DeadLetterCount]
        do throws(RegistryError) {
            counts = try configuration.registry.open(mode: .readOnly).deadLetterCounts(matching: DeadLetterFilter())
        } catch { return bundle.lacks(name, because: error.message) }
        let lines = counts.map { count in
            let oldest = WallTime.text(milliseconds: count.oldestMilliseconds)
            return "\(count.count) \(count.reason), app \(count.app ?? "unknown"), oldest \(oldest)"
        }
        try bundle.add(
            name, "how many dead letters are in the registry, by reason and app",
            lines.isEmpty ? "none" : lines.joined(separator: "\n"))
    }

    private static func check(
        _ configuration: Configuration, into bundle: inout SupportBundle
    ) async throws(CommandFailure) {
        let name = "topology.txt"
        var findings: [TopologyFinding] = []
        do throws(ChangeQueueError) {
            findings = try await configuration.topology.check(configuration.broker(purpose: "doctor"))
        } catch { bundle.lacks(name, because: error.message) }
        if !findings.isEmpty {
            let text = findings.map(\.description).joined(separator: "\n")
            try bundle.add(name, "what 'apus topology check' says", text)
        }
        try await readDepths(configuration, into: &bundle)
        var lines: [String] = []
        await ConnectionProbes.run(for: configuration) { lines.append($0.lines($1)) }
        try bundle.add("checks.txt", "what 'apus check --connect' says", lines.joined(separator: "\n"))
    }

    private static func readDepths(
        _ configuration: Configuration, into bundle: inout SupportBundle
    ) async throws(CommandFailure) {
        let name = "queues.txt"
        let depths: QueueDepths
        do throws(ChangeQueueError) {
            let reader = try await QueueDepthReader.connect(
                configuration.broker(purpose: "doctor"),
                retryDelaysMilliseconds: configuration.retry.delays.map { Int64($0.milliseconds) })
            do throws(ChangeQueueError) {
                depths = try await reader.read()
            } catch {
                await reader.close()
                throw error
            }
            await reader.close()
        } catch { return bundle.lacks(name, because: error.message) }
        try bundle.add(
            name, "how many messages wait in RabbitMQ",
            """
            events in work queues: \(depths.work)
            consumers of the first work queue: \(depths.consumers)
            chunks of fan-outs: \(depths.fanOut)
            retries: \(depths.retry)
            dead letters: \(depths.deadLetters)
            """ + (depths.refusal.map { "\nnot counted above: \($0)" } ?? ""))
    }

    private func show(_ bundle: SupportBundle, _ invocation: CommandInvocation) {
        let files = bundle.files.map { ["name": $0.name, "written": $0.isWritten, "note": $0.note] as Report }
        let report: Report = ["folder": bundle.path, "files": files]
        let count = bundle.files.filter(\.isWritten).count
        invocation.show(
            json: report.json,
            lines: bundle.files.map { "\($0.isWritten ? "wrote   " : "LACKING ")\($0.name): \($0.note)" } + [
                "\(bundle.path) has \(count) files; look through them before you send them"
            ])
    }
}
