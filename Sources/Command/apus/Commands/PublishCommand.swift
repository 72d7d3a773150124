import ChangeEvents
import ChangeQueue
import DispatchCore
import Dispatcher
import EventLoop
import HTTPClient
import Messages
import Metrics
import Notifications
import StructuredLogging
import WorkerConfiguration

/// `apus publish`.
struct PublishCommand: Command {
    private static let file = CommandOption.value(
        "file", letter: "f", "FILE",
        "Publish the CloudEvents of a file of JSON objects; - is standard input.")
    private static let deadline = CommandOption.value(
        "timeout", "SECONDS",
        "How long to wait for confirms and to retry refused events, 1 to 86400. Default: 60.")

    private static let url = CommandOption.value(
        "url", "URL",
        "Publish over HTTP, to the registry's API at this URL, with --token-file.")
    private static let tokenFile = CommandOption.value(
        "token-file", "FILE", "With --url: a file with a token that may publish.")

    private static let dryRun = CommandOption.flag(
        "dry-run",
        "Publish nothing: show whom each event would reach, and what each push service would get.")

    private static let wait = CommandOption.flag(
        "wait", "Wait until the pushes of each event have ended, and tell how; the registry has to keep that.")
    /// The most events that are followed.
    private static let followedMaximum = 1_000

    let name = "publish"
    let summary = "Publish change events and wait until RabbitMQ has confirmed them"
    let help = CommandHelp(
        discussion: """
            Publishes one event made from options, or many from a file. Each event is first
            validated by the worker's own code: its members, its app (if the configuration
            has apps) and its notification. An invalid event of a file is reported with its
            lines, the other events are published, and the exit code is 65.

            An event counts as published when RabbitMQ has confirmed it. An event that
            RabbitMQ refuses (a full queue, a lost leader) is published again after 0.1 to 5
            seconds. If RabbitMQ still refuses it after --timeout, the exit code is 75.

            With --url nothing of the configuration but its apps is used: events go to
            POST /v1/events of the registry's API, which has to have registry.events = true.

            --wait needs events.history in the configuration of the workers, and here without --url.
            It ends with 75 if pushes still wait after --timeout; a large fan-out is told of as a
            whole.

            --dry-run needs no RabbitMQ. The registry is read and not changed; the worker's own
            code finds the devices and makes the content of their pushes.
            """,
        examples: [
            .init(
                "apus publish --type dataset.changed --identity us-east-1:42 --dataset notes --sync-count 7 \\\n"
                    + "    --identity-pool us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c",
                "Reports a changed dataset; the pool is one of the configuration's identity_pools."),
            .init(
                "apus publish --type push.requested --app chat --user-id ann --title Hello --body 'How are you?'",
                "Requests a push to all devices of a user."),
            .init(
                "apus publish --type record.created --record-type Song --record-name song-1 --field 'artist=Mei Chen' "
                    + "--field price=12.5",
                "Reports a created record; a JSON value is taken as JSON, any other value as text."),
            .init("apus publish --file events.ndjson", "Publishes a file of CloudEvents."),
            .init(
                "apus publish --dry-run --type push.requested --app chat --user-id ann --title Hello",
                "Shows the devices of ann and what APNs or FCM would get for them."),
            .init(
                "apus registry token add shop --permission publish > token\n"
                    + "apus publish --url http://127.0.0.1:8080 --token-file token --file events.ndjson",
                "Publishes them over HTTP."),
        ],
        exitCodes: [
            .data, .noInput, .unavailable, .inputOutput, .temporaryFailure, .noPermission, .configuration,
        ]
    )
    let options =
        PublishedEvent.options + [file, deadline, url, tokenFile, wait, dryRun, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let isDryRun = invocation.has(Self.dryRun)
        for other in [Self.url, Self.wait] where isDryRun && invocation.has(other) {
            throw CommandFailure.usage("--dry-run and --\(other.name) exclude each other")
        }
        if invocation.isJSON, !isDryRun { throw CommandFailure.usage("--json needs --dry-run") }
        let deadlineSeconds = try invocation.integer(Self.deadline, in: 1...86_400) ?? 60
        let path = invocation.string(Self.file)
        let body = path == nil ? try PublishedEvent.body(invocation) : nil
        if path != nil { try PublishedEvent.checkAbsence(invocation) }
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        // The input is checked before the broker is contacted: an invalid event is not worth a connection.
        var validator = EventValidator(apps: configuration.pipeline.apps, sources: configuration.pipeline.sources)
        let single = try body.map { body throws(CommandFailure) in try CheckedEvent(body, &validator) }
        let descriptor = try path.map { path throws(CommandFailure) in try PublishRun.open(path) }
        let api = try invocation.has(Self.url) ? Self.api(invocation) : nil
        let follower = try invocation.has(Self.wait) ? Self.follower(api, configuration, invocation) : nil
        var broker = try isDryRun || api != nil ? nil : invocation.broker(configuration)
        broker?.refusedAgainSeconds = Double(deadlineSeconds)
        do { try await broker?.checkConnection() } catch { throw CommandFailure(error) }
        let publisher: any MessagePublisher =
            if let broker {
                try ConfirmedPublisher(configuration: broker, logger: .silent, metrics: MetricsRegistry())
            } else if let api {
                try HTTPEventPublisher(api.address, token: api.token)
            } else {
                try PreviewPublisher(configuration, output: invocation.output, isJSON: invocation.isJSON)
            }
        let run = PublishRun(
            publisher: publisher, exchange: configuration.topology.names.changes,
            verb: isDryRun ? "looked at and not published" : "published and confirmed",
            namesMaximum: follower == nil ? 1 : Self.followedMaximum)
        publisher.start(handler: run)
        do {
            if let single { run.publish(single, line: nil) }
            if let descriptor, let path { try await run.publishEvents(of: descriptor, path, validator) }
        } catch {
            _ = await publisher.close(deadlineSeconds: 0)
            throw error
        }
        _ = await publisher.close(deadlineSeconds: Double(deadlineSeconds))
        let code = run.finish()
        if code == .ok, let follower { return try await follower.follow(run.names, seconds: deadlineSeconds) }
        guard code == .unavailable, let broker else { return code }
        if let missing = try? await broker.missingRightToPublish() { throw CommandFailure(.noPermission, missing) }
        throw CommandFailure(code, "no queue takes events; run `apus topology apply`")
    }

    private static func follower(
        _ api: (address: PostAddress, token: Secret)?, _ configuration: Configuration, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> PublishFollower {
        guard let api else { return try PublishFollower(configuration, invocation) }
        return PublishFollower(api.address, token: api.token, invocation)
    }

    /// The API of `--url`, and the token for it.
    private static func api(
        _ invocation: CommandInvocation
    ) throws(CommandFailure) -> (address: PostAddress, token: Secret) {
        let text = invocation.string(url) ?? ""
        guard let address = PostAddress(text) else {
            throw CommandFailure.usage("--url takes \(PostAddress.expected), not '\(text)'")
        }
        guard let path = invocation.string(tokenFile) else {
            throw CommandFailure.usage("--url needs --token-file FILE, with a token that may publish")
        }
        var token: String
        do {
            token = String(decoding: try ConfigurationFile.read(path), as: UTF8.self)
        } catch {
            throw CommandFailure(.noInput, "cannot read \(path): \(error)")
        }
        token.removeAll(where: \.isWhitespace)
        guard !token.isEmpty else { throw CommandFailure(.noInput, "\(path) has no token") }
        return (address, Secret(token))
    }
}

/// An event that a worker would understand, ready to be published.
struct CheckedEvent {
    /// The message to publish.
    let message: Message
    /// The kind and the subject of the event.
    ///
    /// Operators may bind other queues by it; work queues share the events by it, with all events of a dataset in one
    /// queue.
    let routingKey: String
    /// Its identity.
    let name: PublishRun.EventName

    /// Checks an event as a worker would.
    ///
    /// - Parameters:
    ///   - body: a structured CloudEvent.
    ///   - validator: checks it.
    /// - Throws: `CommandFailure` (`data`) if a worker would make it a dead letter at once.
    init(_ body: [UInt8], _ validator: inout EventValidator) throws(CommandFailure) {
        var message = Message(body: body)
        message.properties.contentType = "application/cloudevents+json"
        do throws(EventRejection) {
            let checked = try validator.publishable(message, atMilliseconds: WallClock.nowMilliseconds())
            self.message = checked.message
            routingKey = checked.event.routingKey
            name = PublishRun.EventName(identifier: checked.event.identifier, source: checked.event.source)
        } catch {
            throw CommandFailure(.data, error.message)
        }
    }
}
