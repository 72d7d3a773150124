package import FoundationEssentials
internal import Glibc

/// Converts moments to the whole seconds that headers and payloads hold.
package enum UnixTime {
    /// The last second of the year 9999.
    package static let secondsMaximum: Int64 = 253_402_300_799

    /// The second in which a moment lies.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if it lies before 1970 or after the year 9999.
    package static func seconds(_ moment: Date, name: String) throws(PushError) -> Int64 {
        let seconds = moment.timeIntervalSince1970
        guard seconds >= 0, seconds <= Double(secondsMaximum) else {
            throw PushError(
                .messageInvalid, "\(name) is \(seconds) seconds after 1970; it must lie between 1970 and the year 9999")
        }
        return Int64(seconds)
    }

    /// The second that so much later than now begins; a part of a second counts as a whole one.
    ///
    /// - Parameter duration: not negative, and less than `secondsMaximum`.
    /// - Returns: seconds since 1970.
    package static func seconds(fromNow duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(Int64(time(nil)) + seconds + (attoseconds > 0 ? 1 : 0), secondsMaximum)
    }
}

/// How long a message is kept for a device that is away, as FCM and Web Push take it.
package struct TimeToLive: Sendable {
    /// Four weeks, the most that FCM takes, and that every push service of a browser takes.
    private static let maximum = Duration.seconds(2_419_200)

    private let duration: Duration?

    /// Checks a time to live; nil is the longest.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if it is negative, or longer than four weeks.
    package init(_ duration: Duration?) throws(PushError) {
        if let duration, duration < .zero || duration > Self.maximum {
            throw PushError(
                .messageInvalid,
                "the time to live is \(duration); it must be between 0, which is now or never, and four weeks")
        }
        self.duration = duration
    }

    /// When a message that is sent now expires, in seconds since 1970; 0 is now or never, nil is the longest.
    package var expirationSeconds: Int64? { duration.map { $0 == .zero ? 0 : UnixTime.seconds(fromNow: $0) } }
}
