/// One thing that a message says or asks for; a message is a list of them.
///
/// The names in parentheses are FCM's (Google, REST reference of FCM v1, `Message`).
public enum FCMItem: Sendable {
    /// The title, on every platform (`notification.title`).
    case title(String)
    /// The title, looked up in the app's strings (`android.notification.title_loc_key`, `-args`).
    case localizedTitle(key: String, arguments: [String] = [])
    /// The text, on every platform (`notification.body`).
    case body(String)
    /// The text, looked up in the app's strings (`android.notification.body_loc_key`, `-args`).
    case localizedBody(key: String, arguments: [String] = [])
    /// The URL of an image, on every platform (`notification.image`).
    case image(String)
    /// The notification channel, which decides about sound and importance (`android.notification.channel_id`).
    case channel(String)
    /// The name of an icon among the app's drawables (`android.notification.icon`).
    case icon(String)
    /// The colour of the icon, `#RRGGBB` (`android.notification.color`).
    case color(String)
    /// A sound among the app's raw resources, or `default` (`android.notification.sound`).
    case sound(String)
    /// A later notification with the same tag replaces this one on the device (`android.notification.tag`).
    case tag(String)
    /// The activity that a tap opens (`android.notification.click_action`).
    case clickAction(String)
    /// How many things this notification stands for (`android.notification.notification_count`).
    case count(Int)
    /// A text for the app itself (`data`); FCM takes texts only.
    case data(String, String)
    /// Any other member of FCM's `Message`, with a value that is encoded as JSON.
    ///
    /// The path separates names with periods, for example `apns.payload`, `webpush.headers` or
    /// `android.notification.visibility`.
    case member(String, any Encodable & Sendable)
}

/// How eagerly an Android device is to be woken (`android.priority`).
public enum FCMPriority: String, CaseIterable, Sendable {
    /// At once; Android may come to treat messages that show nothing as `normal`.
    case high = "HIGH"
    /// When it suits the device's power.
    case normal = "NORMAL"
}
