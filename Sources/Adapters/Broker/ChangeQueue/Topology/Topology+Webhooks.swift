import AMQP
import Backoffice
import Messages

/// The queue of an app whose outcomes are posted to its backend, and its limits.
public struct WebhookQueue: Hashable, Sendable {
    /// The overflow behaviour of a full queue.
    public enum Overflow: String, CaseIterable, Sendable {
        /// It drops the oldest.
        case dropOldest = "drop-oldest"
        /// It refuses the new one, so that workers hold their events back for `outcomes.patience`.
        case refuse
    }

    /// The app.
    public let app: String
    /// How many outcomes it holds, and each of its retry queues as well.
    public let messagesMaximum: Int64
    /// The overflow behaviour when the queue is full.
    public let overflow: Overflow

    /// Describes a queue.
    public init(app: String, messagesMaximum: Int64 = 1_000_000, overflow: Overflow = .dropOldest) {
        self.app = app
        self.messagesMaximum = messagesMaximum
        self.overflow = overflow
    }
}

extension Topology {
    /// For each app the queue that `apus webhooks` consumes, and one for each wait.
    ///
    /// An outcome that comes back from its wait must not be lost, so retry queues refuse copies when they are full;
    /// `apus webhooks` then holds the delivery.
    var webhookQueues: [TopologyObject] {
        webhooks.flatMap { webhook in
            let name = names.webhook(app: webhook.app)
            let length = MessageHeader("x-max-length", .int64(webhook.messagesMaximum))
            let overflow = webhook.overflow == .dropOldest ? "drop-head" : "reject-publish"
            let main = queue(
                name, "outcomes that `apus webhooks` posts",
                [
                    length, MessageHeader("x-overflow", .string(overflow)),
                    MessageHeader("x-delivery-limit", .int64(Self.deadLetterDeliveryLimit)),
                ], bindings: [TopologyObject.Binding(exchange: names.outcomes, routingKey: Self.outcomes(of: webhook))])
            let retries = WebhookRetries.delaysMilliseconds.map { delay in
                queue(
                    names.webhookRetry(app: webhook.app, delayMilliseconds: delay),
                    "waits \(delay) ms, then goes back to \(name)",
                    Self.deadLettering(to: name) + [length, MessageHeader("x-message-ttl", .int64(delay))])
            }
            return [main] + retries
        }
    }

    /// The pattern of the routing keys `OUTCOME.EVENT-TYPE.APP`: an event type has two words, and an app's name with
    /// dots has several, which match themselves alone.
    private static func outcomes(of webhook: WebhookQueue) -> String { "*.*.*.\(webhook.app)" }
}
