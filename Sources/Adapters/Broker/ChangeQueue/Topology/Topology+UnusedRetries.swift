import AMQP

/// Retry queues of steps that the ladder does not have any more.
///
/// Nothing publishes to such a queue once all workers have the new ladder. Its messages go back to work when their time
/// has come, so it empties by itself. Only the operator knows that no worker with the older ladder runs, and such a
/// worker might publish between the last look and a deletion. So Apus deletes it only when it is told to.
extension Topology {
    /// The delays to look for where RabbitMQ does not list its queues: those of the default ladder, and round ones.
    private static let guessedDelaysMilliseconds: [Int64] =
        [1, 2, 5, 10, 15, 30].map { $0 * 1_000 } + [1, 2, 5, 10, 15, 30].map { $0 * 60_000 }
        + [1, 2, 6, 12, 24].map { $0 * 3_600_000 }

    /// Looks for retry queues that the ladder does not need.
    ///
    /// With the management API all of them are found. AMQP lists no queues, so without it only guessed ones are.
    /// `withPolicies` tells what is wrong with the API.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: an `unusedRetry` for each queue that was found, by name.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func unusedRetries(
        at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [TopologyFinding] {
        let prefix = names.retryPrefix
        let listed = try? await ManagementAPI(configuration)?.queueNames(beginningWith: prefix)
            .filter { Self.isDelay($0.dropFirst(prefix.count)) }
        let candidates = listed ?? Self.guessedDelaysMilliseconds.map { names.retry(delayMilliseconds: $0) }
        let needed = Set(retryDelaysMilliseconds.map { names.retry(delayMilliseconds: $0) })
        let unneeded = candidates.filter { !needed.contains($0) }.sorted()
        guard !unneeded.isEmpty else { return [] }
        return try await configuration.withSession(purpose: "topology") { session in
            try unneeded.compactMap { try unusedRetry($0, session) }
        }
    }

    /// Returns the finding for a retry queue; nil if it is missing, or if the user may not look at it.
    private func unusedRetry(_ name: String, _ session: AMQPSession) throws(AMQPError) -> TopologyFinding? {
        do throws(AMQPError) {
            return try session.queueStatus(name).map {
                unusedRetry(name, .unusedRetry(messageCount: $0.messageCount))
            }
        } catch {
            guard error.code == .refused, !session.isClosed else { throw error }
            return nil
        }
    }

    /// Deletes unused retry queues that can be proven to be empty; call it only when no worker has the older ladder.
    ///
    /// - Parameters:
    ///   - findings: the result of `unusedRetries(at:)`.
    ///   - configuration: where the broker is.
    /// - Returns: the findings, with `deleted` for each queue that is gone.
    public func delete(
        _ findings: [TopologyFinding], at configuration: BrokerConfiguration
    ) async -> [TopologyFinding] {
        var result: [TopologyFinding] = []
        for finding in findings {
            guard finding.status == .unusedRetry(messageCount: 0),
                await Self.delete(finding.object.name, of: configuration) == .deleted
            else {
                result.append(finding)
                continue
            }
            result.append(unusedRetry(finding.object.name, .deleted))
        }
        return result
    }

    private func unusedRetry(_ name: String, _ status: TopologyFinding.Status) -> TopologyFinding {
        let object = TopologyObject(
            kind: .quorumQueue, name: name, purpose: "a step that retry.delays does not have any more", arguments: [],
            bindings: [])
        return TopologyFinding(object: object, status: status)
    }

    /// Whether a text is a delay as `QueueNames.retry` writes it, for example `90s`.
    private static func isDelay(_ text: Substring) -> Bool {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return !digits.isEmpty && ["ms", "s", "m", "h"].contains(text.dropFirst(digits.count))
    }
}
