/// Where the parts say what happened: a level, a fixed event name, and fields.
///
/// The event name is constant so that a log can be searched and counted by it; everything that varies is a field. A
/// field never holds a secret or a whole device token (`DeviceToken.description` is safe).
public struct Logger: Sendable {
    private let isLogged: @Sendable (LogLevel) -> Bool
    private let sink: @Sendable (LogLevel, StaticString, [LogField]) -> Void

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - minimum: the least severe level; other lines are dropped before their fields are computed.
    ///   - sink: takes one entry; called from any thread.
    public init(minimum: LogLevel, sink: @escaping @Sendable (LogLevel, StaticString, [LogField]) -> Void) {
        self.init(isLogged: { $0 >= minimum }, sink: sink)
    }

    /// Creates a logger whose least level can change.
    ///
    /// - Parameters:
    ///   - isLogged: whether a level is logged now; other lines are dropped before their fields are computed.
    ///   - sink: takes one entry; called from any thread.
    public init(
        isLogged: @escaping @Sendable (LogLevel) -> Bool,
        sink: @escaping @Sendable (LogLevel, StaticString, [LogField]) -> Void
    ) {
        self.isLogged = isLogged
        self.sink = sink
    }

    /// A logger that drops everything.
    public static let silent = Logger(minimum: .error) { _, _, _ in }

    /// Logs one event.
    ///
    /// - Parameters:
    ///   - level: how important it is.
    ///   - event: the constant name of what happened, for example `amqp.connection.lost`.
    ///   - fields: the variable values; computed only if the level is logged.
    public func log(_ level: LogLevel, _ event: StaticString, _ fields: @autoclosure () -> [LogField] = []) {
        guard isLogged(level) else { return }
        sink(level, event, fields())
    }
}

/// One named value of a log entry.
public struct LogField: Sendable {
    /// The kinds of value that a log line can hold.
    public enum Value: Hashable, Sendable {
        /// Text.
        case string(String)
        /// A whole number.
        case integer(Int)
        /// A number.
        case number(Double)
        /// True or false.
        case boolean(Bool)
    }

    /// The name, with its unit if it has one: `durationSeconds`.
    public let name: StaticString
    /// The value.
    public let value: Value

    /// A field with text.
    public static func field(_ name: StaticString, _ value: String) -> LogField {
        LogField(name: name, value: .string(value))
    }

    /// A field with a whole number.
    public static func field(_ name: StaticString, _ value: Int) -> LogField {
        LogField(name: name, value: .integer(value))
    }

    /// A field with a number.
    public static func field(_ name: StaticString, _ value: Double) -> LogField {
        LogField(name: name, value: .number(value))
    }

    /// A field with a truth value.
    public static func field(_ name: StaticString, _ value: Bool) -> LogField {
        LogField(name: name, value: .boolean(value))
    }
}

/// How important a log entry is.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    /// For the search for a fault in Apus itself.
    case debug
    /// A change of state that an operator expects: connected, draining, pruned.
    case info
    /// Something failed and will be tried again, or needs a look some day.
    case warning
    /// An operator has to act.
    case error

    /// Orders by importance.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
