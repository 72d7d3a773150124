import TOML

extension Configuration {
    /// The retries of failed pushes: `[retry]`.
    public struct Retry: Hashable, Sendable {
        /// The steps of the retry ladder, ascending and distinct, 1 to 16, each 1 ms to 168 h.
        public var delays: [TimeSpan]
        /// How often one push is tried before it goes to the dead letters, 1 to 1000.
        public var attemptsMaximum: Int
        /// How long after its publishing an event is tried before its pushes go to the dead letters, 1 s to 720 h.
        public var ageMaximum: TimeSpan
        /// The least delay of the first retry after a 500 or 503, 1 ms to 168 h.
        ///
        /// The retry takes the first step of the ladder that is at least this long, or the last step.
        public var serverErrorDelay: TimeSpan
    }
}

extension ConfigurationKey {
    static let retryDelays = ConfigurationKey(
        section: "retry", name: "delays", kind: .timeSpans(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)),
        standard: texts(["1s", "5s", "30s", "2m", "15m", "1h"]),
        summary: "Steps of the retry ladder, ascending, 1 to 16.",
        details: "Each is a queue. After a change run 'apus topology apply'.")
    static let retryAttemptsMaximum = ConfigurationKey(
        section: "retry", name: "max_attempts", kind: .integer(1...1_000), standard: .integer(10),
        summary: "Attempts of a push before it becomes a dead letter.")
    static let retryAgeMaximum = ConfigurationKey(
        section: "retry", name: "max_age", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(720)),
        standard: .string("24h"),
        summary: "Age at which an event's failing pushes become dead letters.",
        details: "Counts from the AMQP property timestamp, else from Apus' first look at the event.")
    static let retryServerErrorDelay = ConfigurationKey(
        section: "retry", name: "server_error_delay",
        kind: .timeSpan(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)), standard: .string("15m"),
        summary: "Least delay of the first retry after a 500 or 503 of APNs.",
        details: "The first step that is long enough is taken. Apple asks for 15 minutes.")

    /// The keys of `[retry]`.
    static let retry = [retryDelays, retryAttemptsMaximum, retryAgeMaximum, retryServerErrorDelay]
}

extension ConfigurationReader {
    /// Reads `[retry]`.
    mutating func readRetry() -> Configuration.Retry {
        let delays = timeSpans(.retryDelays)
        if !(1...16).contains(delays.count) {
            fail(.retryDelays, "\(delays.count) steps", "give 1 to 16 durations")
        }
        if zip(delays, delays.dropFirst()).contains(where: { $0 >= $1 }) {
            fail(.retryDelays, "the steps are not ascending and distinct", "make each step longer than the last one")
        }
        let retry = Configuration.Retry(
            delays: delays, attemptsMaximum: integer(.retryAttemptsMaximum), ageMaximum: timeSpan(.retryAgeMaximum),
            serverErrorDelay: timeSpan(.retryServerErrorDelay))
        if let last = delays.last, last < retry.serverErrorDelay {
            warn(
                .retryDelays, "no step is as long as retry.server_error_delay (\(retry.serverErrorDelay))",
                "after a 500 or 503 the last step (\(last)) is used; Apple asks for 15 minutes")
        }
        return retry
    }
}
