import Backoffice
import Dispatcher
import Essentials
import EventLoop
import HTTPClient
import Webhooks
import WorkerConfiguration

/// `apus webhooks test`.
struct WebhooksTestCommand: Command {
    private static let app = CommandOption.value("app", "NAME", "The app whose endpoint is tried.", isRequired: true)
    /// How much of an answer's body is shown, in characters.
    private static let shownMaximum = 200

    let name = "test"
    let summary = "Post one sample outcome, and show what the endpoint answers"
    let help = CommandHelp(
        discussion: """
            Posts an outcome that was made up to the endpoint of an app, signed as all are, and
            shows the status and the beginning of the answer. Its event has the source
            /apus/webhooks/test, so a backend can tell it from others. RabbitMQ is not needed,
            and nothing is posted again.
            """,
        examples: [
            .init("apus webhooks test --app chat", "Tries the endpoint of the app chat."),
            .init("apus webhooks test --app chat --json | jq .status", "Prints the answer for a program."),
        ],
        exitCodes: [.configuration, .unavailable, .noPermission]
    )
    let options = [app, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let name = invocation.string(Self.app) ?? ""
        let loaded = try invocation.loadConfiguration(for: .webhooks)
        for warning in loaded.warnings { StandardError.line("warning: \(warning)") }
        let configuration = loaded.configuration
        guard let app = configuration.apps.first(where: { $0.name == name }) else {
            throw CommandFailure.usage("--app \(name): no such app is configured")
        }
        guard let endpoint = app.webhookEndpoint else {
            throw CommandFailure(.configuration, "the app \(name) has no [app.webhook] with a url")
        }
        let identifier = "test-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let now = WallTime(milliseconds: WallClock.nowMilliseconds())
        let payload = try WebhookPayload.sample(app: name, identifier: identifier, at: now)
        let begun = MonotonicClock.nowNanoseconds()
        let outcome: PostOutcome
        do {
            outcome = try await WebhookTrial.post(
                payload, to: endpoint, userAgent: Configuration.webhookUserAgent(ProductVersion.current))
        } catch { throw CommandFailure(.unavailable, "\(error)") }
        let milliseconds = (MonotonicClock.nowNanoseconds() - begun) / 1_000_000
        let trial = Trial(
            endpoint: endpoint.address.origin, identifier: identifier, milliseconds: milliseconds, outcome: outcome)
        invocation.show(json: trial.report.json, lines: trial.lines)
        return trial.exitCode
    }

    /// The result of the request.
    private struct Trial {
        let endpoint: String
        let identifier: String
        let milliseconds: UInt64
        let outcome: PostOutcome

        /// The status, and the beginning of the body as it can be shown; nil without an answer.
        private var answer: (status: Int, body: String)? {
            guard case .answered(let answer) = outcome else { return nil }
            let body = String(decoding: answer.body, as: UTF8.self).printable()
            return (answer.status, String(body.prefix(WebhooksTestCommand.shownMaximum)))
        }

        private var reason: String {
            switch outcome {
            case .answered: ""
            case .notSent(let failure), .ambiguous(let failure): failure.description.printable()
            }
        }

        var exitCode: ExitCode {
            switch answer?.status {
            case .some(200..<300): .ok
            case 401, 403: .noPermission
            default: .unavailable
            }
        }

        var lines: [String] {
            let subject = "\(endpoint) (webhook-id \(identifier), \(milliseconds) ms)"
            guard let (status, body) = answer else { return ["no answer of \(subject): \(reason)"] }
            let verdict =
                switch status {
                case 200..<300: "took the outcome"
                case 300..<400: "redirects, which is not followed: give the final url"
                case 401, 403: "refused the request: compare the secret, and the clocks"
                case 404: "has no such path: compare the url"
                case 410: "wants no outcomes any more"
                default: "did not take the outcome; it would be posted again"
                }
            return ["\(status) of \(subject): it \(verdict)"] + (body.isEmpty ? [] : ["  \(body)"])
        }

        var report: Report {
            [
                "endpoint": endpoint, "webhookId": identifier, "milliseconds": milliseconds,
                "status": Report.OrNull(answer?.status), "body": answer?.body ?? "", "failure": reason,
            ]
        }
    }
}
