public import FoundationEssentials
import Notifications

/// One thing that a message says or asks for; a message is a list of them.
///
/// The names in parentheses are Apple's keys ("Generating a remote notification").
public enum PushItem: Sendable {
    /// The title (`alert.title`).
    case title(String)
    /// The title, looked up in the app's strings (`alert.title-loc-key`, `-args`).
    case localizedTitle(key: String, arguments: [String] = [])
    /// The subtitle (`alert.subtitle`).
    case subtitle(String)
    /// The subtitle, looked up in the app's strings (`alert.subtitle-loc-key`, `-args`).
    case localizedSubtitle(key: String, arguments: [String] = [])
    /// The text (`alert.body`).
    case body(String)
    /// The text, looked up in the app's strings (`alert.loc-key`, `-args`).
    case localizedBody(key: String, arguments: [String] = [])
    /// The label of the action button, looked up in the app's strings (`alert.action-loc-key`).
    case action(localizationKey: String)
    /// The image that is shown while the app starts (`alert.launch-image`).
    case launchImage(String)
    /// The number on the app's icon; 0 removes it (`badge`).
    case badge(Int)
    /// A sound file of the app, or `default` (`sound`).
    case sound(String)
    /// A sound that plays although the device is muted; the volume is 0 to 1 (`sound.critical`).
    case criticalSound(String, volume: Double? = nil)
    /// Wakes the app (`content-available`); alone it makes the push a background push.
    case contentAvailable
    /// Lets the app's extension change it (`mutable-content`).
    case mutableContent
    /// A widget or control is to be reloaded (`content-changed`).
    case contentChanged
    /// The category, which decides about the actions (`category`).
    case category(String)
    /// The group of the notification (`thread-id`).
    case threadID(String)
    /// How much it may interrupt (`interruption-level`).
    case interruptionLevel(InterruptionLevel)
    /// Which one stands out in a summary, 0 to 1 (`relevance-score`).
    case relevanceScore(Double)
    /// The window that is brought forward (`target-content-id`).
    case targetContentID(String)
    /// The criterion for a Focus filter (`filter-criteria`).
    case filterCriteria(String)
    /// A step of a Live Activity.
    case liveActivity(LiveActivityStep)
    /// A key of your own beside `aps`, with any value.
    case custom(String, any Encodable & Sendable)
}

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

/// The effect of a push on a Live Activity.
///
/// `timestamp` orders the pushes: the system ignores one that is older than the last. Payloads hold whole seconds.
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
public enum LiveActivityStep: Sendable {
    /// Starts an activity; the message must have an alert as well. Send it to a push-to-start token.
    ///
    /// `attributesType` is the name of the app's type of attributes.
    case start(
        attributesType: String, attributes: any Encodable & Sendable, contentState: any Encodable & Sendable,
        timestamp: Date, staleDate: Date? = nil)
    /// Shows a new state.
    case update(contentState: any Encodable & Sendable, timestamp: Date, staleDate: Date? = nil)
    /// Ends the activity, with a last state if there is one; it disappears at `dismissalDate`, or after up to four
    /// hours.
    case end(contentState: (any Encodable & Sendable)? = nil, timestamp: Date, dismissalDate: Date? = nil)
}
