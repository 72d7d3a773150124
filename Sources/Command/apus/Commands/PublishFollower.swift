import Backoffice
import Dispatcher
import EventLoop
import Notifications
import RegistryCore
import WorkerConfiguration

/// Follows published events to their end, by what the workers keep in the registry: `apus publish --wait`.
struct PublishFollower {
    private static let intervalMilliseconds = 200
    private static let outcomesMaximum = 10_000

    private let configuration: Configuration
    private let output: StandardOutput

    /// Refuses a configuration by which workers keep nothing.
    init(_ configuration: Configuration, _ invocation: CommandInvocation) throws(CommandFailure) {
        guard configuration.history.isKept else {
            throw CommandFailure(
                .configuration,
                "--wait needs events.history, for example events.history = \"24h\", here and at the workers")
        }
        self.configuration = configuration
        output = invocation.output
    }

    /// Waits until the pushes of each event have ended, and tells how.
    ///
    /// - Parameters:
    ///   - names: the events.
    ///   - seconds: for how long at most.
    /// - Returns: `ok`, or `temporaryFailure` if some are still not known, or wait.
    /// - Throws: `CommandFailure` if the registry cannot be read.
    func follow(_ names: [PublishRun.EventName], seconds: Int) async throws -> ExitCode {
        let deadline = MonotonicClock.nowNanoseconds() + UInt64(seconds) * 1_000_000_000
        var open = names[...]
        while let name = open.first {
            let summary = try summary(of: name)
            if summary.isEnded {
                open = open.dropFirst()
                output.line("\(name.identifier): \(Self.text(summary))")
                output.flush()
            } else if MonotonicClock.nowNanoseconds() >= deadline {
                StandardError.line(
                    "\(name.identifier) and \(open.count - 1) more have not ended: \(Self.text(summary)); "
                        + "see 'apus explain'")
                return .temporaryFailure
            } else {
                try await Task.sleep(for: .milliseconds(Self.intervalMilliseconds))
            }
        }
        return .ok
    }

    private func summary(of name: PublishRun.EventName) throws -> EventSummary {
        try DeviceRegistry.rephrasing {
            let registry = try configuration.registry.open(mode: .readOnly, quotas: configuration.registryAPI.quotas)
            let bodies = try registry.keptOutcomes(ofEvent: name.identifier, limit: Self.outcomesMaximum)
            return EventSummary(bodies, source: name.source, app: nil)
        }
    }

    private static func text(_ summary: EventSummary) -> String {
        guard !summary.isEmpty else { return "nothing is known yet" }
        return summary.counts.map { "\($0.count) \($0.kind.rawValue)" }.joined(separator: ", ")
    }
}
