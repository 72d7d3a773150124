public import ChangeQueue

extension Configuration {
    /// How an app's backend is told what became of pushes: `[app.webhook]`.
    public struct Webhook: Hashable, Sendable {
        /// Where outcomes are posted to.
        ///
        /// `app.N.webhook.url`, required for a webhook.
        public var url: String
        /// What requests are signed with, each `whsec_` and base64.
        ///
        /// `app.N.webhook.secret`, secret, required for `apus webhooks`; empty elsewhere if it is not given.
        public var secrets: [Secret]
        /// How long one request may take, 1 to 60 s.
        ///
        /// `app.N.webhook.timeout`, default `15s`.
        public var timeout: TimeSpan
        /// How many requests may be under way at once, 1 to 64.
        ///
        /// `app.N.webhook.requests_at_once`, default 8.
        public var requestsMaximum: Int
        /// How long an outcome is tried, 1 m to 720 h.
        ///
        /// `app.N.webhook.retention`, default `72h`.
        public var retention: TimeSpan
        /// Whether the name may resolve to an address that is not public.
        ///
        /// `app.N.webhook.allow_private_addresses`, default false.
        public var allowsPrivateAddresses: Bool
        /// A PEM file with an extra trust anchor, or nil.
        ///
        /// `app.N.webhook.ca_file`, default `""` for none.
        public var caFile: String?
        /// How many outcomes the queue holds.
        ///
        /// `app.N.webhook.queue_max_messages`, default 1 000 000.
        public var queueMessagesMaximum: Int
        /// What the queue does when it is full.
        ///
        /// `app.N.webhook.when_full`, default `drop-oldest`.
        public var overflow: WebhookQueue.Overflow
    }
}
