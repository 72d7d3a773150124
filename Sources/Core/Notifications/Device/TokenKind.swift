/// The kinds of device tokens: one for each topic that APNs knows of an app.
///
/// An installation of an app has its alert token, which `PushType.alert` and `.background` use, and gets a further
/// token for each other topic: from PushKit, ActivityKit, WidgetKit or the Push to Talk framework. APNs takes a token
/// only with the topic that it was issued for, and answers `DeviceTokenNotForTopic` to every other.
public enum TokenKind: String, CaseIterable, Sendable {
    /// From `registerForRemoteNotifications`: alerts and background pushes, and pushes to managed devices.
    case alert
    /// From PushKit, for watch complications.
    case complication
    /// From WidgetKit, for controls.
    case controls
    /// From PushKit, for file providers.
    case fileprovider
    /// From ActivityKit, to start a Live Activity; each running activity has a token of its own besides.
    case liveactivity
    /// From Core Location, for location pushes.
    case location
    /// From the Push to Talk framework.
    case pushtotalk
    /// From PushKit, for incoming calls.
    case voip
    /// From WidgetKit, for widgets.
    case widgets

    /// The kinds that a device may have beside its alert token.
    public static let further = allCases.filter { $0 != .alert }

    /// The suffix after the bundle identifier in the header `apns-topic`; empty for the alert token.
    ///
    /// Source: Apple, "Sending notification requests to APNs".
    public var topicSuffix: String {
        switch self {
        case .alert: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }
}
