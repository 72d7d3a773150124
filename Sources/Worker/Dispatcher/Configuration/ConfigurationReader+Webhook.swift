import ChangeQueue
import HTTPClient
import Notifications
import PushCore
import Webhooks

extension ConfigurationReader {
    /// Reads `[app.webhook]`; nil if nothing is posted to the app's backend.
    mutating func readWebhook(app index: Int, outcomes: OutcomeSelection) -> Configuration.Webhook? {
        let url = text(.webhookURL, app: index)
        let webhook = Configuration.Webhook(
            url: url, secrets: texts(.webhookSecret, app: index).map { Secret($0) },
            timeout: timeSpan(.webhookTimeout, app: index), requestsMaximum: integer(.webhookRequests, app: index),
            retention: timeSpan(.webhookRetention, app: index),
            allowsPrivateAddresses: boolean(.webhookAllowsPrivate, app: index),
            caFile: readCertificateFile(.webhookCAFile, app: index),
            queueMessagesMaximum: integer(.webhookQueueMaximum, app: index),
            overflow: WebhookQueue.Overflow(rawValue: text(.webhookWhenFull, app: index)) ?? .dropOldest)
        guard !url.isEmpty else {
            if !webhook.secrets.isEmpty {
                fail(.webhookURL, app: index, "missing", "say where outcomes are posted to, or remove the secret")
            }
            return nil
        }
        checkURL(webhook, app: index)
        checkSecrets(webhook.secrets, app: index)
        if outcomes.isEmpty, isRight(.appOutcomes, app: index) {
            fail(
                .appOutcomes, app: index, "the app has a webhook, and no outcomes to post",
                "set outcomes of its [[app]], for example outcomes = [\"all\"]")
        }
        return webhook
    }

    /// Whether nothing has been found wrong with a key so far.
    private func isRight(_ key: ConfigurationKey, app index: Int) -> Bool {
        !problems.contains { $0.key == key.path(app: index) }
    }

    private mutating func checkURL(_ webhook: Configuration.Webhook, app index: Int) {
        guard let address = PostAddress(webhook.url) else {
            return fail(
                .webhookURL, app: index, "it cannot be read",
                "write https://HOST:PORT/PATH, without a user and without blanks")
        }
        let allowance = "or set allow_private_addresses = true"
        if !address.destination.isEncrypted, !webhook.mayBePlain(address) {
            return fail(
                .webhookURL, app: index, "http:// would send outcomes unencrypted to another machine",
                "write https://, \(allowance) if that machine is in your own network")
        }
        if let refusal = webhook.refusal(of: address) {
            fail(.webhookURL, app: index, refusal, "give the backend's public address, \(allowance)")
        }
    }

    private mutating func checkSecrets(_ secrets: [Secret], app index: Int) {
        if secrets.isEmpty {
            let remedy = "give \(WebhookSecret.expected)"
            switch purpose {
            case .webhooks: fail(.webhookSecret, app: index, "missing", remedy)
            case .check: warn(.webhookSecret, app: index, "missing, so that 'apus webhooks' does not start", remedy)
            // Only the process that signs has to have what it signs with.
            case .worker, .registryServer, .tool: break
            }
        }
        for (number, secret) in secrets.enumerated() where WebhookSecret(secret.revealed) == nil {
            let subject = secrets.count == 1 ? "the secret" : "secret \(number + 1)"
            // A text from a variable or a file may hold several.
            let separator =
                secret.revealed.contains(where: \.isWhitespace) ? ", and a comma between two without a space" : ""
            fail(
                .webhookSecret, app: index, "\(subject) has the wrong form",
                "give \(WebhookSecret.expected)\(separator)")
        }
        if !secrets.isEmpty, case .file(let path, _) = origin(of: .webhookSecret, app: index),
            ConfigurationFile.isReadableByOthers(path)
        {
            warn(
                .webhookSecret, app: index, "the file holds a secret, and other users can read it",
                "run 'chmod 600 \(path)', or use \(ConfigurationKey.webhookSecret.variable(app: index))_FILE")
        }
    }
}
