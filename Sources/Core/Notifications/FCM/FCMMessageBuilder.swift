internal import JSON

/// Writes messages as FCM v1 takes them, once for all devices of an event.
///
/// Two pushes of an event differ in the target and in the rest of the time to live. The builder writes what comes after
/// these two, and `FCMMessageWriter` puts the parts together:
///
///     {"message":{"token":"…","android":{"ttl":"60s",  +  "priority":"HIGH"},"notification":{…},"data":{…}}}
///
/// | notification | FCM |
/// |---|---|
/// | `title`, `body` | `notification.title`, `.body` |
/// | `titleLocKey`, `titleLocArgs`, `locKey`, `locArgs` | `android.notification.title_loc_key`, `body_loc_key`, … |
/// | `image` | `notification.image` |
/// | `sound` | `android.notification.sound`; of a critical alert its name |
/// | `badge`, if above 0 | `android.notification.notification_count` |
/// | `category` | `android.notification.click_action` |
/// | `interruptionLevel` | `android.notification.notification_priority` |
/// | `data` | `data`, whose values are texts: others become their JSON |
/// | `options.collapseId` | `android.collapse_key`, and `android.notification.tag` if something is shown |
/// | `options.priority` | `android.priority`: 10 is `HIGH`, less is `NORMAL` |
/// | `options.expiration` | `android.ttl` |
///
/// FCM has nothing for the other members, which are left out. Source: Google, REST reference of FCM v1, `Message`.
public struct FCMMessageBuilder {
    /// The most bytes of keys and values in `notification` and `data` (Google, "ErrorCode": `INVALID_ARGUMENT`).
    public static let contentBytesMaximum = 4_096

    private var writer = JSONWriter(capacityBytes: 4_096)
    private var contentBytes = 0

    /// Creates a builder; its memory is reused from message to message.
    public init() {}

    /// Writes the message of a notification.
    ///
    /// - Parameters:
    ///   - notification: the content of the push.
    ///   - options: how it is to be sent.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` if FCM would refuse it: a key of `data` that it reserves,
    ///   too many bytes, or a push type that only Apple has.
    public mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        let pushType = try PushService.fcm.ordinaryPushType(of: notification, options)
        let isShown = Notification.Members(of: notification).isVisible
        let priority = options.priority ?? pushType.defaultPriority
        begin(priority: priority, collapseID: options.collapseID)
        if isShown { writeAndroid(notification, tag: options.collapseOrReplacementID) }
        writer.endObject()
        if isShown, notification.title != nil || notification.body != nil { writeShown(notification) }
        try writeData(notification.customData)
        return try finished(pushType: pushType, priority: priority, options: options)
    }

    /// Writes the silent message that tells a Cognito Sync client about a dataset: data alone, five texts.
    ///
    /// Amazon's client for Android reads these keys, and `syncCount` as decimal digits. FCM keeps messages of at most
    /// four collapse keys for a device that is away, so one with more than four datasets gets the latest of some.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - expirationSeconds: the time at which the push expires, in seconds since 1970; nil leaves it to FCM.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` if the names are too long.
    public mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent {
        let collapseID = DerivedCollapseID.ofDataset(change.key)
        begin(priority: .conserving, collapseID: collapseID)
        writer.endObject()
        writer.key("data")
        writer.beginObject()
        for (key, value) in change.pushSyncTexts { writeCounted(key, value) }
        writer.endObject()
        return try finished(
            pushType: .background, priority: .conserving,
            options: PushOptions(expirationSeconds: expirationSeconds, collapseID: collapseID))
    }

    private mutating func begin(priority: PushPriority, collapseID: String?) {
        writer.removeAll()
        contentBytes = 0
        writer.beginObject()
        writer.key("message")
        writer.beginObject()
        writer.key("android")
        writer.beginObject()
        writer.member("priority", priority == .immediate ? "HIGH" : "NORMAL")
        writer.member("collapse_key", collapseID)
    }

    private mutating func finished(
        pushType: PushType, priority: PushPriority, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        writer.endObject()
        writer.endObject()
        guard contentBytes <= Self.contentBytesMaximum else {
            throw EventRejection(
                .invalidNotification,
                "the notification has \(contentBytes) bytes of keys and values, FCM takes at most "
                    + "\(Self.contentBytesMaximum); shorten the texts or let the app fetch the data")
        }
        return PushContent(
            payload: Array(writer.bytes.dropFirst(FCMMessageWriter.beginning.utf8CodeUnitCount)), topic: "",
            pushType: pushType, priority: priority, expirationSeconds: options.expirationSeconds,
            collapseID: options.collapseID)
    }

    private mutating func writeShown(_ notification: Notification) {
        writer.key("notification")
        writer.beginObject()
        if let title = notification.title { writeCounted("title", title) }
        if let body = notification.body { writeCounted("body", body) }
        if let image = notification.image { writeCounted("image", image) }
        writer.endObject()
    }

    private mutating func writeAndroid(_ notification: Notification, tag: String?) {
        writer.key("notification")
        writer.beginObject()
        if let text = notification.localizedTitle { writeCounted("title_loc_key", "title_loc_args", text) }
        if let text = notification.localizedBody { writeCounted("body_loc_key", "body_loc_args", text) }
        switch notification.sound {
        case .named(let name), .critical(let name, _): writeCounted("sound", name)
        case nil: break
        }
        if let badge = notification.badge, badge > 0 {
            writer.member("notification_count", badge)
        }
        if let category = notification.category { writeCounted("click_action", category) }
        writer.member("notification_priority", notification.interruptionLevel?.fcmPriority)
        writer.member("tag", tag)
        writer.endObject()
    }

    private mutating func writeData(_ data: [CustomDatum]) throws(EventRejection) {
        guard !data.isEmpty else { return }
        writer.key("data")
        writer.beginObject()
        for datum in data {
            if let rule = FCMMessageWriter.reservation(of: datum.key) {
                throw EventRejection(
                    .invalidNotification,
                    "notification.data has the key \"\(datum.key.prefix(64))\", but FCM reserves \(rule); rename it")
            }
            writer.key(dynamic: datum.key)
            contentBytes += datum.key.utf8.count + datum.value.bytes.count
            writer.text(of: datum.value)
        }
        writer.endObject()
    }

    /// Writes what counts in FCM's limit.
    private mutating func writeCounted(_ key: StaticString, _ value: String) {
        contentBytes += key.utf8CodeUnitCount + value.utf8.count
        writer.member(key, value)
    }

    private mutating func writeCounted(
        _ key: StaticString, _ argumentsKey: StaticString, _ text: Notification.LocalizedText
    ) {
        contentBytes += key.utf8CodeUnitCount + text.key.utf8.count
        contentBytes += text.arguments.reduce(0) { $0 + $1.utf8.count }
        writer.members(key, argumentsKey, text)
    }
}

extension Notification.InterruptionLevel {
    /// The value of `notification_priority` that means about the same.
    fileprivate var fcmPriority: String {
        switch self {
        case .passive: "PRIORITY_LOW"
        case .active: "PRIORITY_DEFAULT"
        case .timeSensitive: "PRIORITY_HIGH"
        case .critical: "PRIORITY_MAX"
        }
    }
}
