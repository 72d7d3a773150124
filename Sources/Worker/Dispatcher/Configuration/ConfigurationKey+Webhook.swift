import ChangeQueue
import TOML

extension ConfigurationKey {
    static let webhookURL = ConfigurationKey(
        section: "app.webhook", name: "url", kind: .string, standard: .string(""),
        summary: "Where outcomes are posted to; \"\" is no webhook.",
        details: """
            https://HOST:PORT/PATH, without a user; http:// for this machine, and for private addresses that are \
            allowed. See deploy/webhooks.md.
            """)
    static let webhookSecret = ConfigurationKey(
        section: "app.webhook", name: "secret", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .whole,
        summary: "What signs requests: whsec_ and the base64 of 24 to 64 bytes.",
        details: """
            Required with url by 'apus webhooks', and by no other process. Each of several signs; a variable or file \
            has a comma between two.
            """)
    static let webhookTimeout = ConfigurationKey(
        section: "app.webhook", name: "timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.seconds(60)),
        standard: .string("15s"),
        summary: "How long one request may take.")
    static let webhookRequests = ConfigurationKey(
        section: "app.webhook", name: "requests_at_once", kind: .integer(1...64), standard: .integer(8),
        summary: "Most requests that a process has under way.")
    static let webhookRetention = ConfigurationKey(
        section: "app.webhook", name: "retention", kind: .timeSpan(TimeSpan.minutes(1)...TimeSpan.hours(720)),
        standard: .string("72h"),
        summary: "How long an outcome is posted again.",
        details: "Then it is dropped and counted.")
    static let webhookAllowsPrivate = ConfigurationKey(
        section: "app.webhook", name: "allow_private_addresses", kind: .boolean, standard: .boolean(false),
        summary: "Whether the backend may have a private address.",
        details: "A url that itself names this machine needs no permission.")
    static let webhookCAFile = ConfigurationKey(
        section: "app.webhook", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM.")
    static let webhookQueueMaximum = ConfigurationKey(
        section: "app.webhook", name: "queue_max_messages", kind: .integer(1...1_000_000_000),
        standard: .integer(1_000_000),
        summary: "Most messages that wait for the backend, and as many in each retry queue.",
        details: "RabbitMQ cannot change a queue: delete it, and run 'apus topology apply'.")
    static let webhookWhenFull = ConfigurationKey(
        section: "app.webhook", name: "when_full", kind: .choice(WebhookQueue.Overflow.allCases.map(\.rawValue)),
        standard: .string(WebhookQueue.Overflow.dropOldest.rawValue),
        summary: "What a full queue does with a further message.",
        details: "refuse makes workers hold the app's events for outcomes.patience, and then drop new outcomes.")

    /// The keys of `[app.webhook]`.
    static let webhook = [
        webhookURL, webhookSecret, webhookTimeout, webhookRequests, webhookRetention, webhookAllowsPrivate,
        webhookCAFile, webhookQueueMaximum, webhookWhenFull,
    ]
}
