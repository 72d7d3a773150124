/// How important a log entry is.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    /// For someone who is looking for a fault in Apus itself.
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
