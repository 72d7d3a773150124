public import FoundationEssentials
internal import Glibc

/// Until when APNs keeps a push for a device that is offline.
public enum PushExpiration: Hashable, Sendable {
    /// APNs decides, up to 30 days.
    case none
    /// APNs tries once and keeps nothing.
    case immediately
    /// For this long after it is sent; a part of a second counts as a whole one.
    case after(Duration)
    /// Until this moment.
    case at(Date)

    /// The header `apns-expiration`, in seconds since 1970.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if the moment lies before 1970 or after the year 9999, or the duration
    ///   is not positive.
    func headerSeconds() throws(PushError) -> Int64? {
        switch self {
        case .none: return nil
        case .immediately: return 0
        case .after(let duration):
            guard duration > .zero, duration < .seconds(UnixTime.secondsMaximum) else {
                throw PushError(
                    .messageInvalid,
                    "the expiration is \(duration) after sending; it must be a positive duration, or .immediately")
            }
            let (seconds, attoseconds) = duration.components
            return min(Int64(time(nil)) + seconds + (attoseconds > 0 ? 1 : 0), UnixTime.secondsMaximum)
        case .at(let moment): return try UnixTime.seconds(moment, name: "the expiration")
        }
    }
}

/// Converts moments to the whole seconds that APNs' headers and payloads hold.
enum UnixTime {
    /// The last second of the year 9999.
    static let secondsMaximum: Int64 = 253_402_300_799

    /// The second in which a moment lies.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if it lies before 1970 or after the year 9999.
    static func seconds(_ moment: Date, name: String) throws(PushError) -> Int64 {
        let seconds = moment.timeIntervalSince1970
        guard seconds >= 0, seconds <= Double(secondsMaximum) else {
            throw PushError(
                .messageInvalid, "\(name) is \(seconds) seconds after 1970; it must lie between 1970 and the year 9999")
        }
        return Int64(seconds)
    }
}
