import HTTPClient
import WorkerConfiguration

/// `apus healthcheck`.
struct HealthcheckCommand: Command {
    private static let ready = CommandOption.flag("ready", "Ask /readyz instead of /livez.")
    private static let timeout = CommandOption.value(
        "timeout", "SECONDS", "How long to wait for the answer, 1 to 60. Default: 5.")

    let name = "healthcheck"
    let summary = "Ask the worker of this machine whether it is well"
    let help = CommandHelp(
        discussion: """
            Asks the admin server that the configuration names (admin.listen) on this machine,
            and exits with 0 or 69. It is for container images, which have neither a shell nor
            curl.

            /livez fails if the process hangs, so it has to be started again. /readyz fails if
            the worker cannot work: without RabbitMQ, its queues, the registry, or an accepted
            key. While a push service cannot be reached or serves an app badly, it says
            'degraded' and does not fail.
            """,
        examples: [
            .init("apus healthcheck", "Succeeds if the process works."),
            .init("apus healthcheck --ready", "Succeeds if it also can do its job."),
            .init("apus healthcheck --ready --json | jq .checks", "Prints all checks."),
        ],
        exitCodes: [.unavailable, .configuration])
    let options = [ready, timeout, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let timeoutSeconds = try invocation.integer(Self.timeout, in: 1...60) ?? 5
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        guard let listen = configuration.admin.listen, listen.port > 0 else {
            throw CommandFailure(
                .configuration, "admin.listen names no port to ask: set it to HOST:PORT, for example 127.0.0.1:9464")
        }
        let path = invocation.has(Self.ready) ? "/readyz" : "/livez"
        let url = "http://\(HostPort(host: Self.reachable(listen.host), port: listen.port))\(path)"
        var client = HTTPClient()
        client.timeoutSeconds = timeoutSeconds
        let answer: HTTPClient.Answer
        do throws(HTTPClient.Failure) { answer = try client.get(url) } catch {
            throw CommandFailure(.unavailable, "\(url): \(error)")
        }
        let body = String(decoding: answer.body, as: UTF8.self)
        invocation.output.write(invocation.isJSON ? body : "\(url): \(answer.status) \(body)")
        return answer.status == 200 ? .ok : .unavailable
    }

    /// The address by which this machine reaches a server that listens on all of its addresses.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
