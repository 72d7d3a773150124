import TOML

extension Configuration {
    /// Whether campaigns are counted, and for how long: `[analytics]`.
    public struct Analytics: Hashable, Sendable {
        /// Whether outcomes go to the queue that `apus analytics` consumes.
        public var isEnabled: Bool
        /// How long counts are kept, 24 hours to ten years.
        public var retention: TimeSpan
        /// How many outcomes wait in the queue; beyond that the oldest are dropped.
        public var queueMessagesMaximum: Int

        /// The retention in whole hours.
        public var retentionHours: Int64 { Int64(retention.milliseconds / 3_600_000) }
    }
}

extension ConfigurationKey {
    static let analyticsEnabled = ConfigurationKey(
        section: "analytics", name: "enabled", kind: .boolean, standard: .boolean(false),
        summary: "Whether campaigns are counted.",
        details: "'apus analytics' consumes the queue NAMESPACE.outcomes.analytics. See deploy/campaigns.md.")
    static let analyticsRetention = ConfigurationKey(
        section: "analytics", name: "retention", kind: .timeSpan(TimeSpan.hours(24)...TimeSpan.hours(87_600)),
        standard: .string("2160h"), summary: "How long counts and reports of opened pushes are kept.")
    static let analyticsQueueMaximum = ConfigurationKey(
        section: "analytics", name: "queue_max_messages", kind: .integer(1_000...100_000_000),
        standard: .integer(1_000_000), summary: "Most outcomes that wait for 'apus analytics'.",
        details: "Beyond it RabbitMQ drops the oldest.")

    /// The keys of `[analytics]`.
    static let analytics = [analyticsEnabled, analyticsRetention, analyticsQueueMaximum]

    static let appOpens = ConfigurationKey(
        section: "app", name: "opens", kind: .boolean, standard: .boolean(false),
        summary: "Whether devices report opened pushes.",
        details: "Pushes of a campaign then carry a receipt. See deploy/campaigns.md.")
}

extension ConfigurationReader {
    /// Reads `[analytics]`.
    mutating func readAnalytics() -> Configuration.Analytics {
        Configuration.Analytics(
            isEnabled: boolean(.analyticsEnabled), retention: timeSpan(.analyticsRetention),
            queueMessagesMaximum: integer(.analyticsQueueMaximum))
    }
}
