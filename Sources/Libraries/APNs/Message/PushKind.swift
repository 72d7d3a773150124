import Notifications

/// What kind of push it is: the header `apns-push-type`, and with it the topic.
///
/// Source: Apple, "Sending notification requests to APNs".
public enum PushKind: String, CaseIterable, Sendable {
    /// Shows an alert, plays a sound or sets a badge.
    case alert
    /// Wakes the app without telling the person.
    case background
    /// Updates a watch complication.
    case complication
    /// Reloads a control.
    case controls
    /// Tells a file provider extension about changes.
    case fileprovider
    /// Starts, updates or ends a Live Activity.
    case liveactivity
    /// Asks for the location of the person.
    case location
    /// Talks to a managed device.
    case mdm
    /// Announces a Push-to-Talk transmission.
    case pushtotalk
    /// Announces an incoming call.
    case voip
    /// Reloads a widget.
    case widgets

    var pushType: PushType? { PushType(rawValue: rawValue) }
}
