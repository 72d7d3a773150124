internal import Essentials
internal import Hashing
internal import JSON

/// Writes the JSON that a browser decrypts, once for all devices of an event.
///
/// The shape is that of Declarative Web Push (W3C Push API, pull request 385: `web_push` is 8030, `notification` has
/// `title` and `navigate` at least). A browser that knows it shows the notification without a service worker. The
/// service worker of any other browser reads the same members:
///
///     {"web_push":8030,"notification":{"title":"…","body":"…","navigate":"https://…"},"data":{…}}
///
///     self.addEventListener("push", (event) => {
///         const { notification, data } = event.data.json()
///         if (notification) event.waitUntil(
///             self.registration.showNotification(notification.title ?? "", { ...notification, data }))
///     })
///
/// | notification | JSON, or request field |
/// |---|---|
/// | `title`, `body` | `notification.title`, `.body` |
/// | `data` | `data`, an object; left out if it is empty |
/// | `data.navigate`, `data.image`, `data.icon` that are texts | also `notification.navigate`, `.image`, `.icon` |
/// | `badge` | `app_badge`, 0 clears it (pull request 402, which WebKit has and the standard has not yet) |
/// | `mutableContent` | `mutable`: a service worker may change the notification before it is shown |
/// | `interruptionLevel` | `passive`: `notification.silent`; `time-sensitive`, `critical`: `.requireInteraction` |
/// | `options.collapseId` | the field `Topic`, and `notification.tag` |
/// | `options.priority` | the field `Urgency`: 10 is `high`, 5 is `normal`, 1 is `low` |
/// | `options.expiration` | the field `TTL` |
/// | `subtitle`, `threadId`, `category`, localized keys and arguments | `notification`, under the names of the event |
///
/// Browsers ignore the members of the last row: they are for the service worker, which has the app's own texts. Web
/// Push has nothing for the others (sounds and launch images among them), which are left out. `web_push` is written
/// only beside a title and an address to navigate to, because a browser takes no other message for a declarative one.
public struct WebPushMessageBuilder {
    /// The longest text that fits into one record and a body of 4 096 bytes, in bytes: RFC 8291 section 4 leaves 3 993
    /// after the header (86), the delimiter (1) and the tag (16).
    public static let plaintextBytesMaximum = 3_993

    /// The value of `web_push` (W3C Push API: it tells a declarative message from other JSON).
    private static let declarativeMark = 8_030

    private var writer = JSONWriter(capacityBytes: 4_096)

    /// Creates a builder; its memory is reused from message to message.
    public init() {}

    /// Writes the message of a notification.
    ///
    /// - Parameters:
    ///   - notification: the content of the push.
    ///   - options: how it is to be sent.
    /// - Returns: the content, ready to be encrypted; its `topic` is the field `Topic`, or empty.
    /// - Throws: `EventRejection` with `invalidNotification` if it is too long, or of a push type that only Apple has.
    public mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        let pushType = try PushService.webPush.ordinaryPushType(of: notification, options)
        writer.removeAll()
        writer.beginObject()
        if Notification.Members(of: notification).isVisible {
            writeShown(notification, tag: options.collapseOrReplacementID)
        }
        if !notification.customData.isEmpty {
            writer.key("data")
            writer.beginObject()
            for datum in notification.customData {
                writer.key(dynamic: datum.key)
                writer.raw(datum.value.bytes)
            }
            writer.endObject()
        }
        return try finished(
            pushType: pushType, priority: options.priority ?? pushType.defaultPriority, options: options)
    }

    /// Writes the silent message that tells a client of Cognito Sync about a dataset: `{"data":{…}}`.
    ///
    /// The members of `data` are those that Amazon's clients read, and `syncCount` is a text of decimal digits. The
    /// `Topic` follows from the dataset, so that a browser that was away gets its newest change only. Browsers may
    /// take the permission from a page whose service worker shows nothing for a push (Apple, "Sending web push
    /// notifications in web apps and browsers").
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - expirationSeconds: the time at which the push expires, in seconds since 1970; nil leaves it to the service.
    /// - Returns: the content, ready to be encrypted.
    /// - Throws: `EventRejection` with `invalidNotification` if the names are too long.
    public mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent {
        writer.removeAll()
        writer.beginObject()
        writer.key("data")
        writer.beginObject()
        for (key, value) in change.pushSyncTexts { writer.member(key, value) }
        writer.endObject()
        return try finished(
            pushType: .background, priority: .conserving,
            options: PushOptions(
                expirationSeconds: expirationSeconds, collapseID: DerivedCollapseID.ofDataset(change.key)))
    }

    private mutating func finished(
        pushType: PushType, priority: PushPriority, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        writer.endObject()
        guard writer.bytes.count <= Self.plaintextBytesMaximum else {
            throw EventRejection(
                .invalidNotification,
                "the message for browsers has \(writer.bytes.count) bytes, Web Push takes at most "
                    + "\(Self.plaintextBytesMaximum); shorten the texts or let the app fetch the data")
        }
        return PushContent(
            payload: writer.bytes.withUnsafeBufferPointer { Array($0) },
            topic: options.collapseOrReplacementID.map(WebPushTopic.topic) ?? "", pushType: pushType,
            priority: priority, expirationSeconds: options.expirationSeconds,
            collapseID: options.collapseOrReplacementID)
    }

    private mutating func writeShown(_ notification: Notification, tag: String?) {
        let links = ["navigate", "image", "icon"].map { name in
            notification.customData.first { $0.key == name && $0.value.bytes.first == UInt8(ascii: "\"") }?.value
        }
        if notification.title != nil, links[0] != nil {
            writer.member("web_push", Self.declarativeMark)
        }
        writer.key("notification")
        writer.beginObject()
        writer.member("title", notification.title)
        writer.member("body", notification.body)
        writer.member("navigate", links[0])
        if let image = notification.image {
            writer.member("image", image)
        } else if let image = links[1] {
            writer.member("image", image)
        }
        writer.member("icon", links[2])
        writer.member("tag", tag)
        switch notification.interruptionLevel {
        case .passive: writer.member("silent", true)
        case .timeSensitive, .critical: writer.member("requireInteraction", true)
        case .active, nil: break
        }
        writeForServiceWorker(notification)
        writer.endObject()
        if let badge = notification.badge, badge >= 0 {
            writer.member("app_badge", badge)
        }
        if notification.isContentMutable { writer.member("mutable", true) }
    }

    private mutating func writeForServiceWorker(_ notification: Notification) {
        writer.member("subtitle", notification.subtitle)
        writer.members("titleLocKey", "titleLocArgs", notification.localizedTitle)
        writer.members("subtitleLocKey", "subtitleLocArgs", notification.localizedSubtitle)
        writer.members("locKey", "locArgs", notification.localizedBody)
        writer.member("threadId", notification.threadID)
        writer.member("category", notification.category)
    }
}

/// The field `Topic`: pushes of the same topic replace each other while the push service stores them.
///
/// A topic has at most 32 characters of the base64url alphabet (RFC 8030 section 5.4). Apple's service decodes it, so
/// its length must be one that base64 can have, and not 1 more than a multiple of 4. Google's service slows down
/// topics of one subscription: a burst of about 20, then one in three minutes.
enum WebPushTopic {
    /// 18 bytes are 24 characters: long enough that topics differ, and a length that every service takes.
    private static let digestBytes = 18

    /// The topic for a collapse identifier: the beginning of its SHA-256 digest, 24 characters.
    ///
    /// All workers derive the same. The service sees no name, but could guess one from a list of names.
    static func topic(_ collapseID: String) -> String {
        Base64URL.encode(Array(SHA256.digest(of: Array(collapseID.utf8)).prefix(digestBytes)))
    }
}

extension PushPriority {
    /// The value of the field `Urgency` (RFC 8030 section 5.3), as a constant.
    public var webPushUrgency: StaticString {
        switch self {
        case .immediate: "high"
        case .conserving: "normal"
        case .passive: "low"
        }
    }
}
