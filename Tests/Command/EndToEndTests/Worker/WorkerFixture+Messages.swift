import AMQP
import ChangeEvents
import EventLoop
import JSON
import Messages
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

@testable import ChangeQueue

extension WorkerFixture {
    /// A dead letter, as `apus dead-letters list --json` shows it.
    struct Letter {
        let reason: String
        let detail: String
    }

    private func brokerConfiguration() throws -> BrokerConfiguration {
        try BrokerConfiguration(urls: [broker.url], namespace: namespace)
    }

    /// Publishes messages as they are, confirmed: also such that `apus publish` would not let pass.
    func publish(_ messages: [Message]) async throws {
        let configuration = try brokerConfiguration()
        let publisher = try ConfirmedPublisher(
            configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let counter = ConfirmCounter()
        publisher.start(handler: counter)
        publisher.publish(
            messages.enumerated().map { index, message in
                OutgoingMessage(
                    identifier: UInt64(index), exchange: configuration.names.changes, routingKey: "test",
                    message: message)
            })
        _ = await publisher.close(deadlineSeconds: 60)
        try #require(counter.confirmed.value == messages.count)
    }

    /// Waits until a queue has a message, and takes it away.
    func take(from queue: String) async throws -> Message {
        let endpoint = try AMQPEndpoint(broker.url)
        let loop = try EventLoop(name: "take")
        defer { loop.stopAndJoin() }
        let taken = try await eventually("a message in \(queue)") {
            try await loop.run {
                let session = try AMQPSession(endpoint, options: AMQPOptions())
                defer { session.close() }
                return try session.get(queue).map { Message($0.0) }
            }
        } until: {
            $0 != nil
        }
        return try #require(taken)
    }

    /// All dead letters, oldest first.
    func deadLetters() async throws -> [Letter] {
        let list = try await apus("dead-letters", "list", "--json")
        try #require(list.exitCode == 0, "\(list)")
        return try list.output.split(separator: "\n").map { line in
            let root = try JSONParser().parse(String(line))
            return Letter(
                reason: root.object?["reason"]?.string ?? "", detail: root.object?["detail"]?.string ?? "")
        }
    }
}

/// Counts the messages that the broker has confirmed.
final class ConfirmCounter: PublishHandler {
    let confirmed = Watched(0)

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        let count = outcomes.count { $0.outcome == .confirmed }
        confirmed.update { $0 += count }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {}
}
