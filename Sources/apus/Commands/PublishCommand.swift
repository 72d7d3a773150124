import ChangeQueue
import Dispatcher
import EventLoop
import Metrics
import PushCore

/// `apus publish`.
struct PublishCommand: Command {
    private static let file = CommandOption.value(
        "file", letter: "f", "FILE", "Publish the CloudEvents of a file, one in JSON a line; - is standard input.")
    private static let deadline = CommandOption.value(
        "timeout", "SECONDS", "How long to wait for the last confirms. Default: 60.")

    let name = "publish"
    let summary = "Publish change events and wait until RabbitMQ has confirmed them"
    let help = CommandHelp(
        discussion: """
            Publishes one event that the options describe, or many from a file. Each event is
            checked first, as a worker would; a bad line of a file is reported with its number,
            the rest goes on, and the command ends with 65. An event counts as published only
            when RabbitMQ has confirmed it.
            """,
        examples: [
            .init(
                "apus publish --type dataset.changed --identity-pool us-east-1:177a950c --identity us-east-1:42 "
                    + "--dataset notes --sync-count 7",
                "Says that a dataset has changed."),
            .init(
                "apus publish --type push.requested --app chat --user-id ann --title Hello --body 'How are you?'",
                "Asks for a push to all devices of a user."),
            .init("apus publish --file events.ndjson", "Publishes a file of CloudEvents, a line each."),
        ],
        exitCodes: [.data, .noInput, .unavailable, .noPermission, .configuration]
    )
    let options = PublishedEvent.options + [file, deadline] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let deadlineSeconds = try invocation.integer(Self.deadline, in: 1...86_400) ?? 60
        let path = invocation.string(Self.file)
        // What was given is looked at first: a fault in it is not worth a connection.
        let single = path == nil ? try CheckedEvent(try PublishedEvent.body(invocation), EventDecoder()) : nil
        if path != nil { try PublishedEvent.checkAbsence(invocation) }
        let broker = try invocation.broker(try invocation.loadConfiguration(for: .tool).configuration)
        let descriptor = try path.map { path throws(CommandFailure) in try PublishRun.open(path) }
        do { try await broker.checkConnection() } catch { throw CommandFailure(error) }
        let publisher = try ConfirmedPublisher(configuration: broker, logger: .silent, metrics: MetricsRegistry())
        let run = PublishRun(publisher: publisher, exchange: broker.names.changes)
        publisher.start(handler: run)
        do {
            if let single { run.publish(single, number: nil) }
            if let descriptor, let path { try await run.publishLines(of: descriptor, path) }
        } catch {
            _ = await publisher.close(deadlineSeconds: 0)
            throw error
        }
        _ = await publisher.close(deadlineSeconds: Double(deadlineSeconds))
        return run.finish()
    }
}
