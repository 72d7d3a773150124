import Dispatcher
import Essentials
import EventLoop
import WorkerConfiguration

extension CommandInvocation {
    /// The moment that an option gives, or nil if it was not given.
    ///
    /// A moment is a time as RFC 3339 writes it, or how long ago it was.
    ///
    /// - Parameter option: the option, whose value is called `TIME`.
    /// - Returns: milliseconds since 1970.
    /// - Throws: `CommandFailure` that shows both forms, if it is neither.
    func moment(_ option: CommandOption) throws(CommandFailure) -> Int64? {
        guard let text = string(option) else { return nil }
        if let milliseconds = WallTime.milliseconds(text) { return milliseconds }
        if let age = TimeSpan(text) { return WallClock.nowMilliseconds() - Int64(age.milliseconds) }
        throw .usage(
            "--\(option.name) takes a time such as 2026-01-31T12:00:00Z, or an age such as 90s, 15m or 48h, not "
                + "'\(text)'")
    }
}
