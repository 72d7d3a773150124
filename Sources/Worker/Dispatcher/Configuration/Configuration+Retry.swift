extension Configuration {
    /// The retries of failed pushes: `[retry]`.
    public struct Retry: Hashable, Sendable {
        /// The steps of the retry ladder, ascending and distinct, 1 to 16, each 1 ms to 168 h.
        ///
        /// `retry.delays`, default `1s 5s 30s 2m 15m 1h`.
        public var delays: [TimeSpan]
        /// How often one push is tried before it goes to the dead letters, 1 to 1000.
        ///
        /// `retry.max_attempts`, default 10.
        public var attemptsMaximum: Int
        /// How long after its publishing an event is tried before its pushes go to the dead letters, 1 s to 720 h.
        ///
        /// `retry.max_age`, default `24h`.
        public var ageMaximum: TimeSpan
        /// The least delay of the first retry after a 500 or 503, 1 ms to 168 h.
        ///
        /// The retry takes the first step of the ladder that is at least this long, or the last step.
        ///
        /// `retry.server_error_delay`, default `15m`, as Apple asks in "Handling notification responses from APNs".
        public var serverErrorDelay: TimeSpan
    }
}
