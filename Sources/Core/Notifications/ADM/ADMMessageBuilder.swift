internal import JSON

/// Writes messages as ADM takes them, once for all devices of an event.
///
/// A message is data alone, and the app decides what to show. All values are texts. Two pushes of an event differ only
/// in `expiresAfter`. The builder writes the rest of the message, and `ADMMessageWriter` puts `expiresAfter` before it:
///
///     {"expiresAfter":60,  +  "consolidationKey":"…","data":{…}}
///
/// | notification | key in `data` |
/// |---|---|
/// | `title`, `subtitle`, `body` | the same name |
/// | `titleLocKey`, `subtitleLocKey`, `locKey` | the same name |
/// | `titleLocArgs`, `subtitleLocArgs`, `locArgs` | the same name; the array as JSON |
/// | `sound` | `sound`; of a critical alert its name |
/// | `badge` | `badge`, in decimal digits |
/// | `image`, `category`, `threadId`, `interruptionLevel` | the same name |
/// | `data` | its own keys; a value that is no text becomes its JSON |
/// | `options.collapseId` | none: `consolidationKey`, which has at most 64 characters |
/// | `options.expiration` | none: `expiresAfter` |
///
/// The other members are left out, and so is `md5`, which ADM does not ask for. Source: Amazon, "Send a message" (ADM).
public struct ADMMessageBuilder {
    /// The longest `data`, in bytes of JSON: Amazon allows a payload of 6 KB.
    public static let dataBytesMaximum = 6 * 1_024

    private var writer = JSONWriter(capacityBytes: 4_096)
    /// The keys of `data` that the notification itself has.
    private var keys: [String] = []

    /// Creates a builder; its memory is reused from message to message.
    public init() {}

    /// Writes the message of a notification.
    ///
    /// - Parameters:
    ///   - notification: the content of the push.
    ///   - options: how it is to be sent.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` if `data` has a key that the notification needs itself,
    ///   the message is too long, or the push type is one that only Apple has.
    public mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        let pushType = try PushService.adm.ordinaryPushType(of: notification, options)
        let start = begin(collapseID: options.collapseOrReplacementID)
        writeTexts(of: notification)
        try writeData(notification.customData)
        return try finished(dataStart: start, pushType: pushType, options: options)
    }

    /// Writes the message that tells a Cognito Sync client about a dataset: the five texts that Android has from FCM.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - expirationSeconds: the time at which the push expires, in seconds since 1970; nil leaves it to ADM.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` if the names are too long.
    public mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent {
        let collapseID = DerivedCollapseID.ofDataset(change.key)
        let start = begin(collapseID: collapseID)
        for (key, value) in change.pushSyncTexts { writer.member(key, value) }
        return try finished(
            dataStart: start, pushType: .background,
            options: PushOptions(
                priority: .conserving, expirationSeconds: expirationSeconds, collapseID: collapseID))
    }

    /// Begins a message.
    ///
    /// - Returns: where the value of `data` begins.
    private mutating func begin(collapseID: String?) -> Int {
        writer.removeAll()
        keys.removeAll(keepingCapacity: true)
        writer.beginObject()
        writer.member("consolidationKey", collapseID)
        writer.key("data")
        let start = writer.bytes.count
        writer.beginObject()
        return start
    }

    private mutating func finished(
        dataStart: Int, pushType: PushType, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        writer.endObject()
        let dataBytes = writer.bytes.count - dataStart
        writer.endObject()
        guard dataBytes <= Self.dataBytesMaximum else {
            throw EventRejection(
                .invalidNotification,
                "the notification has \(dataBytes) bytes as the data of a message, ADM takes at most "
                    + "\(Self.dataBytesMaximum); shorten the texts or let the app fetch the data")
        }
        return PushContent(
            payload: Array(writer.bytes.dropFirst(ADMMessageWriter.beginning.utf8CodeUnitCount)), topic: "",
            pushType: pushType, priority: options.priority ?? pushType.defaultPriority,
            expirationSeconds: options.expirationSeconds, collapseID: options.collapseOrReplacementID)
    }

    private mutating func writeTexts(of notification: Notification) {
        if let title = notification.title { write(.title, title) }
        write(.titleLocKey, .titleLocArgs, notification.localizedTitle)
        if let subtitle = notification.subtitle { write(.subtitle, subtitle) }
        write(.subtitleLocKey, .subtitleLocArgs, notification.localizedSubtitle)
        if let body = notification.body { write(.body, body) }
        write(.locKey, .locArgs, notification.localizedBody)
        switch notification.sound {
        case .named(let name), .critical(let name, _): write(.sound, name)
        case nil: break
        }
        if let badge = notification.badge { write(.badge, String(badge)) }
        if let image = notification.image { write(.image, image) }
        if let category = notification.category { write(.category, category) }
        if let threadID = notification.threadID { write(.threadID, threadID) }
        if let level = notification.interruptionLevel { write(.interruptionLevel, level.rawValue) }
    }

    private mutating func writeData(_ data: [CustomDatum]) throws(EventRejection) {
        for datum in data {
            guard !keys.contains(where: { $0.utf8.elementsEqual(datum.key.utf8) }) else {
                throw EventRejection(
                    .invalidNotification,
                    "notification.data has the key \"\(datum.key)\", under which ADM's data has the notification's own "
                        + "\(datum.key); rename it")
            }
            writer.key(dynamic: datum.key)
            writer.text(of: datum.value)
        }
    }

    private mutating func write(_ member: Notification.Member, _ value: String) {
        keys.append("\(member.name)")
        writer.member(member.name, value)
    }

    private mutating func write(
        _ keyMember: Notification.Member, _ argumentsMember: Notification.Member, _ text: Notification.LocalizedText?
    ) {
        guard let text else { return }
        write(keyMember, text.key)
        guard !text.arguments.isEmpty else { return }
        var arguments = JSONWriter()
        arguments.beginArray()
        for argument in text.arguments { arguments.string(argument) }
        arguments.endArray()
        write(argumentsMember, String(decoding: arguments.bytes, as: UTF8.self))
    }
}
