import Notifications

/// How much a notification may interrupt.
public enum InterruptionLevel: String, CaseIterable, Sendable {
    /// Only added to the list.
    case passive
    /// Lights up the screen.
    case active
    /// Breaks through most system controls.
    case timeSensitive = "time-sensitive"
    /// Breaks through all of them; needs an entitlement.
    case critical

    var level: Notifications.Notification.InterruptionLevel? { .init(rawValue: rawValue) }
}
