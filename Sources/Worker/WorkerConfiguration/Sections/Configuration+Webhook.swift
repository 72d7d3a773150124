public import ChangeQueue
public import HTTPClient
import Notifications
import TOML
import Webhooks

extension Configuration {
    /// How an app's backend is told what became of pushes: `[app.webhook]`.
    public struct Webhook: Hashable, Sendable {
        /// Where outcomes are posted to.
        public var url: String
        /// The secrets that sign requests, each `whsec_` and base64.
        public var secrets: [Secret]
        /// How long one request may take, 1 to 60 s.
        public var timeout: TimeSpan
        /// How many requests may be under way at once, 1 to 64.
        public var requestsMaximum: Int
        /// How long an outcome is tried, 1 m to 720 h.
        public var retention: TimeSpan
        /// Whether the name may resolve to an address that is not public.
        public var allowsPrivateAddresses: Bool
        /// A PEM file with an extra trust anchor, or nil.
        public var caFile: String?
        /// How many outcomes the queue holds.
        public var queueMessagesMaximum: Int
        /// How the queue makes room when it is full.
        public var overflow: WebhookQueue.Overflow
    }
}

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

extension Configuration.Webhook {
    /// Which addresses may be connected to, after the name was looked up; nil for all.
    ///
    /// The host name of a webhook may resolve to an address behind the firewall, by mistake or by intent of the name's
    /// owner. A URL whose host is a loopback address is allowed to reach it.
    public func admitsAddress(_ address: PostAddress) -> (@Sendable ([UInt8]) -> Bool)? {
        guard !allowsPrivateAddresses else { return nil }
        let policy = AddressPolicy(allowedRanges: Self.isLoopback(address) ? Self.loopback : [])
        return { policy.allows($0) }
    }

    /// Whether requests may go there without TLS.
    func mayBePlain(_ address: PostAddress) -> Bool { allowsPrivateAddresses || Self.isLoopback(address) }

    /// Why nothing can be posted to an address that the URL itself names; nil if something can.
    func refusal(of address: PostAddress) -> String? {
        let host = address.destination.host
        guard let admits = admitsAddress(address) else { return nil }
        return switch LiteralHost(host) {
        case .name: nil
        case .address(let bytes): admits(bytes) ? nil : "\(host) is not a public address"
        case .malformed: "\(host) is neither a name nor an address"
        }
    }

    private static let loopback = [([127, 0, 0, 0], 8), ([UInt8](repeating: 0, count: 15) + [1], 128)].compactMap {
        AddressRange(address: $0.0, prefixBits: $0.1)
    }

    private static func isLoopback(_ address: PostAddress) -> Bool {
        HostPort(host: address.destination.host, port: address.destination.port).isLoopback
    }
}
