internal import JSON
internal import Notifications
public import PushLibrary

/// The content of a message and how it is sent; the same value can be sent to any number of targets.
///
/// The JSON is made, and FCM's rules that can be seen before sending are checked, when the message is built.
public struct FCMMessage: Sendable {
    /// The most bytes of keys and values for one platform (Google, "ErrorCode": `INVALID_ARGUMENT`).
    static let contentBytesMaximum = 4_096

    /// The time to live counts from the moment of sending.
    private let timeToLive: TimeToLive
    /// All members of the message but the target and the time to live, which differ between pushes.
    private let payload: [UInt8]
    private let priority: FCMPriority
    private let collapseKey: String?

    /// Builds a message.
    ///
    /// - Parameters:
    ///   - items: the content; of two items for the same member the later counts.
    ///   - priority: how eagerly an Android device is woken; nil is high if the message shows something, else normal.
    ///   - timeToLive: how long FCM keeps it for a device that is away, in whole seconds; 0 is now or never, nil is
    ///     the longest, four weeks.
    ///   - collapseKey: of messages with the same key, a device that was away gets the last; FCM keeps four keys.
    /// - Throws: `PushError` (`messageInvalid`), with the remedy, if FCM would refuse the message (it says nothing, has
    ///   more than 4,096 bytes of keys and values, a reserved key of `data`, a time to live above four weeks) or a
    ///   value cannot be encoded as JSON.
    public init(
        _ items: [FCMItem], priority: FCMPriority? = nil, timeToLive: Duration? = nil, collapseKey: String? = nil
    ) throws(PushError) {
        var members = MessageMembers()
        for item in items { try members.add(item) }
        guard !members.root.isEmpty else {
            throw PushError(.messageInvalid, "the message says nothing; give it a title, a body or data")
        }
        let bytes = members.contentBytes
        guard bytes <= Self.contentBytesMaximum else {
            throw PushError(
                .messageInvalid,
                "the message has \(bytes) bytes of keys and values, and FCM takes at most \(Self.contentBytesMaximum); "
                    + "shorten the texts, or let the app fetch the data")
        }
        self.priority = priority ?? (members.isShown ? .high : .normal)
        self.timeToLive = try TimeToLive(timeToLive)
        self.collapseKey = collapseKey
        payload = members.payload(priority: self.priority, collapseKey: collapseKey)
    }

    /// The content of pushes, with the time to live as of now.
    var content: PushContent {
        PushContent(
            payload: payload, topic: "", pushType: priority == .high ? .alert : .background,
            priority: priority == .high ? .immediate : .conserving, expirationSeconds: timeToLive.expirationSeconds,
            collapseID: collapseKey)
    }
}
