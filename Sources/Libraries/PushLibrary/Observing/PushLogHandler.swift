package import StructuredLogging

/// Receives the log of a client: the shape of swift-log's `LogHandler`, so that an adapter is one line.
///
/// Called from the client's own thread, so it must return quickly. No entry holds a key, a password or a whole token.
public protocol PushLogHandler: Sendable {
    /// Logs one entry.
    ///
    /// - Parameters:
    ///   - level: how important it is.
    ///   - message: the constant name of what happened, for example `push.connection.lost`.
    ///   - metadata: the variable values, for example `reason`.
    func log(level: PushLogLevel, message: String, metadata: [String: String])
}

/// How important a log entry is; the raw values are swift-log's.
public enum PushLogLevel: String, CaseIterable, Sendable {
    /// Details for a search for a fault in the library.
    case debug
    /// An expected change of state: connected, closed.
    case info
    /// Something failed and is tried again.
    case warning
    /// An operator has to act.
    case error
}

extension Logger {
    /// Logs to a handler of the program; nil logs nothing.
    package init(_ handler: (any PushLogHandler)?) {
        guard let handler else {
            self = .silent
            return
        }
        self.init(minimum: .debug) { level, event, fields in
            var metadata: [String: String] = [:]
            for field in fields { metadata["\(field.name)"] = field.value.text }
            handler.log(level: PushLogLevel(level), message: "\(event)", metadata: metadata)
        }
    }
}

extension PushLogLevel {
    fileprivate init(_ level: LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
    }
}

extension LogField.Value {
    fileprivate var text: String {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .boolean(let value): String(value)
        }
    }
}
