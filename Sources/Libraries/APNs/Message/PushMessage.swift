public import FoundationEssentials
import Notifications
public import PushLibrary

/// The content and the headers of a push; the same value can be sent to any number of tokens.
///
/// The payload is made, and all of Apple's rules that can be seen before sending are checked, when the message is
/// built.
public struct PushMessage: Sendable {
    /// The message's name: the `apns-id` of each push is derived from it and the token.
    ///
    /// So a repeated send to the same token has the same `apns-id`, even after a restart.
    public let identifier: String
    /// Until when APNs keeps it for a device that is offline.
    public let expiration: PushExpiration
    /// Without the app's topic and the moment of expiration, which are known when it is sent.
    private let content: PushContent
    /// Whether it starts a Live Activity, which a broadcast cannot do.
    let startsLiveActivity: Bool

    /// Builds a message.
    ///
    /// - Parameters:
    ///   - items: the content; of two items of the same kind the later counts.
    ///   - kind: the kind; decided from the items if nil.
    ///   - urgency: the urgency; decided from the kind if nil.
    ///   - expiration: until when APNs keeps it.
    ///   - collapseID: messages with the same identifier replace each other on the device; at most 64 bytes.
    ///   - identifier: the name of the message; nil draws one.
    /// - Throws: `PushError` (`messageInvalid`), with the remedy, if a value of your own cannot be encoded as JSON, if
    ///   the payload is too large (4,096 bytes, 5,120 for `voip`), or if Apple's rules for the kind are broken.
    public init(
        _ items: [PushItem], kind: PushKind? = nil, urgency: PushUrgency? = nil, expiration: PushExpiration = .none,
        collapseID: String? = nil, identifier: String? = nil
    ) throws(PushError) {
        var notification = Notifications.Notification()
        for item in items { try notification.add(item) }
        let options = PushOptions(
            pushType: kind?.pushType, priority: urgency?.priority,
            expirationSeconds: try expiration.headerSeconds(), collapseID: collapseID)
        // The topic of an app begins with its bundle identifier; here it is the suffix alone.
        var builder = PushContentBuilder(bundleID: "")
        do throws(EventRejection) {
            content = try builder.content(of: notification, options: options)
        } catch { throw PushError(error) }
        startsLiveActivity = notification.liveActivityEvent == .start
        self.expiration = expiration
        self.identifier = identifier ?? Self.randomIdentifier()
    }

    /// The kind that was given, or decided from the items.
    public var kind: PushKind? { PushKind(rawValue: content.pushType.rawValue) }

    /// The content of a push of one app, with the expiration as of now.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if the expiration cannot be written any more.
    func content(bundleID: String) throws(PushError) -> PushContent {
        PushContent(
            payload: content.payload, topic: bundleID + content.topic, pushType: content.pushType,
            priority: content.priority, expirationSeconds: try expiration.headerSeconds(),
            collapseID: content.collapseID)
    }

    private static func randomIdentifier() -> String {
        APNsIdentifier(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).description
    }
}

/// The push type: the header `apns-push-type`, and with it the topic.
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

/// How eagerly a device is to be woken: the header `apns-priority`.
public enum PushUrgency: Int, CaseIterable, Sendable {
    /// At once.
    case immediate = 10
    /// When it suits the device's power.
    case conserving = 5
    /// Never wakes the device.
    case passive = 1

    var priority: PushPriority? { PushPriority(rawValue: rawValue) }
}

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
            return UnixTime.seconds(fromNow: duration)
        case .at(let moment): return try UnixTime.seconds(moment, name: "the expiration")
        }
    }
}
