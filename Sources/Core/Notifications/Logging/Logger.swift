/// Where the parts say what happened: a level, a fixed event name, and fields.
///
/// The event name is constant so that a log can be searched and counted by it; everything that varies is a field. A
/// field never holds a secret or a whole device token (`DeviceToken.description` is safe).
public struct Logger: Sendable {
    private let minimum: LogLevel
    private let sink: @Sendable (LogLevel, StaticString, [LogField]) -> Void

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - minimum: what is less important than this is dropped before its fields are computed.
    ///   - sink: takes one entry; called from any thread.
    public init(minimum: LogLevel, sink: @escaping @Sendable (LogLevel, StaticString, [LogField]) -> Void) {
        self.minimum = minimum
        self.sink = sink
    }

    /// A logger that drops everything.
    public static let silent = Logger(minimum: .error) { _, _, _ in }

    /// Logs one event.
    ///
    /// - Parameters:
    ///   - level: how important it is.
    ///   - event: the constant name of what happened, for example `amqp.connection.lost`.
    ///   - fields: what varies; computed only if the level is logged.
    public func log(_ level: LogLevel, _ event: StaticString, _ fields: @autoclosure () -> [LogField] = []) {
        guard level >= minimum else { return }
        sink(level, event, fields())
    }
}
