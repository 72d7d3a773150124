import ChangeQueue
import TOML

extension ConfigurationKey {
    static let webhookURL = ConfigurationKey(
        section: "app.webhook", name: "url", kind: .string, standard: .string(""),
        summary: "Where the app's outcomes are posted to; \"\" is no webhook.",
        details: """
            https://HOST:PORT/PATH, without a user. http:// is for this machine, and for private addresses that are \
            allowed. 'apus webhooks' posts what [[app]] outcomes selects. See deploy/webhooks.md.
            """)
    static let webhookSecret = ConfigurationKey(
        section: "app.webhook", name: "secret", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .whole,
        summary: "What requests are signed with: whsec_ and the base64 of 24 to 64 bytes.",
        details: """
            'apus webhooks' requires it with url, and no other process needs it; for example \
            whsec_$(openssl rand -base64 32). With several, each request has a signature of each: add a new one, let \
            the backend take it, and remove the old one. A variable or file has a comma between two.
            """)
    static let webhookTimeout = ConfigurationKey(
        section: "app.webhook", name: "timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.seconds(60)),
        standard: .string("15s"),
        summary: "How long one request may take.")
    static let webhookRequests = ConfigurationKey(
        section: "app.webhook", name: "requests_at_once", kind: .integer(1...64), standard: .integer(8),
        summary: "The most requests that a process has under way to the backend.")
    static let webhookRetention = ConfigurationKey(
        section: "app.webhook", name: "retention", kind: .timeSpan(TimeSpan.minutes(1)...TimeSpan.hours(720)),
        standard: .string("72h"),
        summary: "How long an outcome is posted again.",
        details: "An attempt that fails later is the last, and the outcome is dropped and counted.")
    static let webhookAllowsPrivate = ConfigurationKey(
        section: "app.webhook", name: "allow_private_addresses", kind: .boolean, standard: .boolean(false),
        summary: "Whether the backend may have an address that is not public.",
        details: """
            Addresses are checked after each look-up of the name. A url that itself names this machine, as \
            127.0.0.1, reaches it without this.
            """)
    static let webhookCAFile = ConfigurationKey(
        section: "app.webhook", name: "ca_file", kind: .string, standard: .string(""),
        summary: "A PEM file with an extra trust anchor.",
        details: "\"\" trusts the system's anchors only.")
    static let webhookQueueMaximum = ConfigurationKey(
        section: "app.webhook", name: "queue_max_messages", kind: .integer(1...1_000_000_000),
        standard: .integer(1_000_000),
        summary: "The most messages with outcomes that wait for the backend, and as many in each retry queue.",
        details: "RabbitMQ cannot change a queue: delete it, and run 'apus topology apply'.")
    static let webhookWhenFull = ConfigurationKey(
        section: "app.webhook", name: "when_full", kind: .choice(WebhookQueue.Overflow.allCases.map(\.rawValue)),
        standard: .string(WebhookQueue.Overflow.dropOldest.rawValue),
        summary: "What a full queue does with a further message.",
        details: """
            drop-oldest drops the oldest. refuse keeps them, so that workers hold back the app's events for \
            outcomes.patience, and drop new outcomes then.
            """)

    /// The keys of `[app.webhook]`.
    static let webhook = [
        webhookURL, webhookSecret, webhookTimeout, webhookRequests, webhookRetention, webhookAllowsPrivate,
        webhookCAFile, webhookQueueMaximum, webhookWhenFull,
    ]
}
