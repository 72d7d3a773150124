import Backoffice
import ChangeQueue
import HTTPClient
public import Webhooks
public import WorkerConfiguration

extension Configuration {
    /// The apps with a webhook, and what it takes to post to them.
    ///
    /// - Returns: one endpoint for each such app, in their order.
    public var webhookEndpoints: [WebhookEndpoint] { apps.compactMap { $0.webhookEndpoint } }

    /// The queues of the apps with a webhook.
    var webhookQueues: [WebhookQueue] {
        apps.compactMap { app in
            app.webhook.map { webhook in
                WebhookQueue(
                    app: app.name, messagesMaximum: Int64(webhook.queueMessagesMaximum), overflow: webhook.overflow)
            }
        }
    }
}

extension Configuration.App {
    /// Where the app's outcomes are posted to; nil if nowhere.
    public var webhookEndpoint: WebhookEndpoint? {
        // A URL that cannot be read was refused before.
        guard let webhook, var address = PostAddress(webhook.url) else { return nil }
        address.destination.caFile = webhook.caFile ?? ""
        address.destination.admitsAddress = webhook.admitsAddress(address)
        return WebhookEndpoint(
            app: name, address: address, secrets: webhook.secrets.compactMap { WebhookSecret($0.revealed) },
            timeoutNanoseconds: webhook.timeout.nanoseconds, requestsMaximum: webhook.requestsMaximum,
            retries: WebhookRetries(retentionMilliseconds: Int64(webhook.retention.milliseconds)))
    }
}
