extension Configuration {
    /// How backends are told what became of pushes: `[outcomes]`.
    public struct Outcomes: Hashable, Sendable {
        /// How long outcomes that RabbitMQ refuses are published again before they are dropped, 0 to 300 s.
        ///
        /// `outcomes.patience`, default `10s`.
        public var patience: TimeSpan
    }
}
