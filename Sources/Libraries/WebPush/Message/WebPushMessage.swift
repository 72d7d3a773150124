internal import Notifications
public import PushLibrary

/// The content of a push and how it is sent; the same value can be sent to any number of browsers.
///
/// The content is the program's own: the service worker of the page gets it as `event.data`. A browser that knows
/// Declarative Web Push shows JSON of that form by itself (W3C Push API).
public struct WebPushMessage: Sendable {
    /// The most bytes of content that every push service takes: RFC 8291 §4 leaves 3,993 of the 4,096 of RFC 8030 §7.2.
    public static let contentBytesMaximum = WebPushMessageBuilder.plaintextBytesMaximum

    private let bytes: [UInt8]
    private let timeToLive: TimeToLive
    private let urgency: WebPushUrgency
    private let topic: String?

    /// Builds a message of bytes.
    ///
    /// - Parameters:
    ///   - bytes: the content, at most 3,993 bytes; may be empty.
    ///   - timeToLive: how long the push service keeps it for a browser that is away, in whole seconds; 0 is now or
    ///     never, nil is four weeks.
    ///   - urgency: how eagerly the device is to be woken.
    ///   - topic: a later message with the same topic replaces one that waits for the browser: up to 32 letters,
    ///     digits, `-` and `_`, but not a number of them that base64 cannot have (1, 5, 9, …), which Apple refuses.
    /// - Throws: `PushError` (`messageInvalid`), with the remedy, if one of these rules is broken.
    public init(
        _ bytes: some Sequence<UInt8>, timeToLive: Duration? = nil, urgency: WebPushUrgency = .normal,
        topic: String? = nil
    ) throws(PushError) {
        self.bytes = Array(bytes)
        guard self.bytes.count <= Self.contentBytesMaximum else {
            throw PushError(
                .messageInvalid,
                "the message has \(self.bytes.count) bytes, and Web Push takes at most \(Self.contentBytesMaximum); "
                    + "shorten it, or let the page fetch the rest")
        }
        if let topic { try Self.requireTopic(topic) }
        self.timeToLive = try TimeToLive(timeToLive)
        self.urgency = urgency
        self.topic = topic
    }

    /// Builds a message of a value, which is encoded as JSON: `event.data.json()` of a service worker.
    ///
    /// - Parameters:
    ///   - value: the content.
    ///   - timeToLive: as for bytes.
    ///   - urgency: as for bytes.
    ///   - topic: as for bytes.
    /// - Throws: `PushError` (`messageInvalid`) as for bytes, or if the value cannot be encoded.
    public init(
        json value: some Encodable, timeToLive: Duration? = nil, urgency: WebPushUrgency = .normal,
        topic: String? = nil
    ) throws(PushError) {
        try self.init(
            RawJSON(encoding: value, name: "the message").bytes, timeToLive: timeToLive, urgency: urgency, topic: topic)
    }

    /// The content of pushes, with the time to live as of now.
    var content: PushContent {
        PushContent(
            payload: bytes, topic: topic ?? "", pushType: .alert, priority: urgency.priority,
            expirationSeconds: timeToLive.expirationSeconds, collapseID: topic)
    }

    /// RFC 8030 §5.4; Apple decodes it as base64.
    private static func requireTopic(_ topic: String) throws(PushError) {
        let isRight = topic.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        let count = topic.utf8.count
        guard isRight, (1...32).contains(count), count % 4 != 1 else {
            throw PushError(
                .messageInvalid,
                "the topic has \(count) bytes\(isRight ? "" : ", and other characters than base64url has"); it must "
                    + "have 2 to 32 letters, digits, '-' and '_', and not one more than a multiple of 4")
        }
    }
}

/// How eagerly a device is to be woken (RFC 8030 §5.3).
public enum WebPushUrgency: String, CaseIterable, Sendable {
    /// Advice that can wait for power and Wi-Fi.
    case low
    /// A message for which the device need not be woken at a low battery.
    case normal
    /// A call, or an alert about time.
    case high

    var priority: PushPriority {
        switch self {
        case .low: .passive
        case .normal: .conserving
        case .high: .immediate
        }
    }
}
