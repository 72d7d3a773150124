internal import Glibc

/// Until when APNs keeps a push for a device that is offline.
public enum PushExpiration: Hashable, Sendable {
    /// APNs decides, up to 30 days.
    case none
    /// APNs tries once and keeps nothing.
    case immediately
    /// So many seconds after it is sent.
    case after(seconds: Int64)
    /// At this moment, in seconds since 1970.
    case at(secondsSince1970: Int64)

    /// The header `apns-expiration`.
    var headerSeconds: Int64? {
        switch self {
        case .none: nil
        case .immediately: 0
        case .after(let seconds): Int64(time(nil)).addingReportingOverflow(max(1, seconds)).partialValue
        case .at(let moment): moment
        }
    }
}
