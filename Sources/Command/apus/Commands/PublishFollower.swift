import Backoffice
import Dispatcher
import Essentials
import EventLoop
import HTTPClient
import JSON
import RegistryCore
import WorkerConfiguration

/// Follows published events to their end, by what the workers keep in the registry: `apus publish --wait`.
struct PublishFollower {
    /// Where it asks.
    private enum Place {
        case registry(Configuration)
        /// The registry's API, with its URL.
        case api(HTTPClient, url: String)
    }

    /// What is known of an event.
    private struct Knowledge {
        var isEnded = false
        var text = "nothing is known yet"
    }

    private static let intervalMilliseconds = 200
    private static let outcomesMaximum = 10_000

    private let place: Place
    private let output: StandardOutput

    /// Asks the registry; refuses a configuration by which workers keep nothing.
    init(_ configuration: Configuration, _ invocation: CommandInvocation) throws(CommandFailure) {
        guard configuration.history.isKept else {
            throw CommandFailure(
                .configuration,
                "--wait needs events.history, for example events.history = \"24h\", here and at the workers")
        }
        place = .registry(configuration)
        output = invocation.output
    }

    /// Asks the registry's API.
    init(_ address: PostAddress, token: Secret, _ invocation: CommandInvocation) {
        var client = HTTPClient()
        client.bearerToken = token.revealed
        place = .api(client, url: address.origin + HTTPEventPublisher.path(at: address))
        output = invocation.output
    }

    /// Waits until the pushes of each event have ended, and tells how.
    ///
    /// - Parameters:
    ///   - names: the events.
    ///   - seconds: for how long at most.
    /// - Returns: `ok`, or `temporaryFailure` if some are still not known, or wait.
    /// - Throws: `CommandFailure` if the registry or its API cannot be asked.
    func follow(_ names: [PublishRun.EventName], seconds: Int) async throws -> ExitCode {
        let deadline = MonotonicClock.nowNanoseconds() + UInt64(seconds) * 1_000_000_000
        var open = names[...]
        while let name = open.first {
            let known = try ask(name)
            if known.isEnded {
                open = open.dropFirst()
                output.line("\(name.identifier): \(known.text)")
                output.flush()
            } else if MonotonicClock.nowNanoseconds() >= deadline {
                StandardError.line(
                    "\(name.identifier) and \(open.count - 1) more have not ended: \(known.text); see 'apus explain'")
                return .temporaryFailure
            } else {
                try await Task.sleep(for: .milliseconds(Self.intervalMilliseconds))
            }
        }
        return .ok
    }

    private func ask(_ name: PublishRun.EventName) throws -> Knowledge {
        switch place {
        case .registry(let configuration): try Self.ask(name, configuration)
        case .api(let client, let url): try Self.ask(name, client, url)
        }
    }

    private static func ask(_ name: PublishRun.EventName, _ configuration: Configuration) throws -> Knowledge {
        try DeviceRegistry.rephrasing {
            let registry = try configuration.registry.open(mode: .readOnly, quotas: configuration.registryAPI.quotas)
            let summary = try EventSummary(
                of: name.identifier, source: name.source, app: nil, in: registry, outcomesMaximum: outcomesMaximum)
            return summary.isEmpty ? Knowledge() : Knowledge(isEnded: summary.isEnded, text: summary.text)
        }
    }

    /// Asks the API; one that cannot be reached, or has too much to do, is asked again.
    private static func ask(
        _ name: PublishRun.EventName, _ client: HTTPClient, _ url: String
    ) throws(CommandFailure) -> Knowledge {
        let query = "?source=\(PercentEncoding.encode(name.source))"
        var known = Knowledge()
        let answer: HTTPClient.Answer
        do throws(HTTPClient.Failure) {
            answer = try client.get("\(url)/\(PercentEncoding.encode(name.identifier))\(query)")
        } catch {
            known.text = "the API cannot be reached: \(error.description.printable())"
            return known
        }
        let root = try? JSONParser(roundsNumbers: true).parse(answer.body)
        if answer.status == 200, let isEnded = root?["isEnded"]?.bool, let text = root?["text"]?.string {
            return Knowledge(isEnded: isEnded, text: text.printable())
        }
        let detail = (root?["detail"]?.string ?? "the API answered with \(answer.status)").printable()
        if answer.status == 404, answer.retryAfterSeconds != nil { return known }
        guard answer.status == 429 || answer.status >= 500 else { throw CommandFailure(.unavailable, detail) }
        known.text = detail
        return known
    }
}
