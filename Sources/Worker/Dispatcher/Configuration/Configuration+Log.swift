public import Notifications

extension Configuration {
    /// The level and the format of the log: `[log]`.
    public struct Log: Hashable, Sendable {
        /// The shapes of a log line.
        public enum Format: String, CaseIterable, Sendable {
            /// Text if standard error is a terminal, else JSON.
            case auto
            /// One JSON object a line.
            case json
            /// For people.
            case text
        }

        /// The least severe level that is logged.
        ///
        /// `log.level`, default `info`.
        public var level: LogLevel
        /// The shape of the lines.
        ///
        /// `log.format`, default `auto`.
        public var format: Format
    }
}
