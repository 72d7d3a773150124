/// The rules of APNs that can be seen before sending: what a notification says against how it is to be sent.
///
/// APNs answers a push that breaks one of them with an error, or delays or drops it without a word, and rejections
/// slow the connection down for the good ones. So they are found here, and the text says what would be right.
public struct NotificationRules: Sendable {
    /// The largest collapse identifier, in bytes of UTF-8.
    public static let collapseIDBytesMaximum = 64

    /// The headers of a push, decided from its notification and options.
    public struct Headers: Hashable, Sendable {
        /// The header `apns-push-type`.
        public let pushType: PushType
        /// The header `apns-topic`.
        public let topic: String
        /// The header `apns-priority`.
        public let priority: PushPriority
        /// The header `apns-expiration`, in seconds since 1970.
        public let expirationSeconds: Int64?
        /// The header `apns-collapse-id`.
        public let collapseID: String?
    }

    /// The bundle identifier of the app.
    public let bundleID: String

    /// The rules for the pushes of one app.
    public init(bundleID: String) { self.bundleID = bundleID }

    /// Decides the headers of a push and checks its notification against them.
    ///
    /// - Parameters:
    ///   - notification: what the push says.
    ///   - options: how it is to be sent, as far as the event says so.
    /// - Returns: the headers.
    /// - Throws: `EventRejection` with `invalidNotification` (the parts contradict each other or a rule of the push
    ///   type) or `invalidField` (a value that is impossible by itself).
    public func headers(for notification: Notification, options: PushOptions) throws(EventRejection) -> Headers {
        try headers(for: notification, Notification.Members(of: notification), options: options)
    }

    func headers(
        for notification: Notification, _ members: Notification.Members, options: PushOptions
    ) throws(EventRejection) -> Headers {
        let pushType = options.pushType ?? Self.pushType(of: notification, members)
        try Self.checkValues(of: notification, members)
        try Self.check(notification, members, as: pushType)
        return try headers(pushType: pushType, options: options)
    }

    /// Decides the headers of a push whose type is known.
    ///
    /// - Throws: `EventRejection`, see `headers(for:options:)`.
    public func headers(pushType: PushType, options: PushOptions) throws(EventRejection) -> Headers {
        let priority = options.priority ?? pushType.defaultPriority
        guard pushType.allowedPriorities.contains(priority) else {
            let allowed = pushType.allowedPriorities.map { String($0.rawValue) }.joined(separator: " or ")
            throw EventRejection(
                .invalidNotification,
                "options.priority is \(priority.rawValue), but a \(pushType.rawValue) push must have \(allowed)")
        }
        if let expiration = options.expirationSeconds, expiration < 0 {
            throw EventRejection(
                .invalidField, "options.expiration is \(expiration); it is a time in seconds since 1970, or 0")
        }
        if let collapseID = options.collapseID { try Self.checkCollapseID(collapseID) }
        return Headers(
            pushType: pushType, topic: bundleID + pushType.tokenKind.topicSuffix, priority: priority,
            expirationSeconds: options.expirationSeconds, collapseID: options.collapseID)
    }

    /// Checks that a rendered payload is within the limit of its push type.
    ///
    /// - Throws: `EventRejection` with `invalidNotification`.
    public static func checkPayloadSize(_ sizeBytes: Int, pushType: PushType) throws(EventRejection) {
        guard sizeBytes <= pushType.payloadBytesMaximum else {
            throw EventRejection(
                .invalidNotification,
                "the payload is \(sizeBytes) bytes of JSON, at most \(pushType.payloadBytesMaximum) are allowed for a "
                    + "\(pushType.rawValue) push; shorten the texts or let the app fetch the data")
        }
    }

    /// The push type of a notification whose event names none.
    ///
    /// Any key of a Live Activity makes it `liveactivity`, `content-changed` makes it `widgets`, `content-available`
    /// without anything to show makes it `background`, and everything else is an `alert`.
    public static func pushType(of notification: Notification) -> PushType {
        pushType(of: notification, Notification.Members(of: notification))
    }

    private static func pushType(of notification: Notification, _ members: Notification.Members) -> PushType {
        if members.hasLiveActivityKeys { return .liveactivity }
        if notification.isContentChanged { return .widgets }
        return notification.isContentAvailable && !members.isVisible ? .background : .alert
    }

    private static func checkCollapseID(_ collapseID: String) throws(EventRejection) {
        let size = collapseID.utf8.count
        guard size <= collapseIDBytesMaximum else {
            throw EventRejection(
                .invalidNotification,
                "options.collapseId is \(size) bytes long, but APNs takes at most \(collapseIDBytesMaximum)")
        }
        // A header value can hold neither control characters nor leading or trailing spaces (RFC 9113, section 8.2.1).
        let isValue = collapseID.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
        guard size > 0, isValue, collapseID.utf8.first != 0x20, collapseID.utf8.last != 0x20 else {
            throw EventRejection(
                .invalidField,
                "options.collapseId is empty, begins or ends with a space, or holds a control character; "
                    + "leave it out or give it visible characters")
        }
    }
}
