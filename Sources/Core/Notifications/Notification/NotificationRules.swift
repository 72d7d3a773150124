import Essentials

/// The rules of APNs that can be checked before sending: the notification against its headers.
///
/// APNs answers a push that breaks one of them with an error, or delays or drops it silently. Rejections slow the
/// connection down for valid pushes. So violations are found here, and the text gives the remedy.
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
    ///   - notification: the content of the push.
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
        if let priority = options.priority, !pushType.allowedPriorities.contains(priority) {
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
        let suffix = pushType.tokenKind.topicSuffix
        return Headers(
            // Most pushes have no suffix, and then share the text.
            pushType: pushType, topic: suffix.isEmpty ? bundleID : bundleID + suffix,
            priority: options.priority ?? pushType.defaultPriority,
            expirationSeconds: options.expirationSeconds, collapseID: options.collapseOrReplacementID)
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

/// The rules that depend on the push type, and those of single values.
extension NotificationRules {
    /// Checks the payload against its push type, and refuses members that Apple ignores there.
    static func check(
        _ notification: Notification, _ members: Notification.Members, as pushType: PushType
    ) throws(EventRejection) {
        if pushType != .liveactivity, let member = members.firstLiveActivityMember {
            throw misplaced(member, in: pushType, belongsTo: "liveactivity")
        }
        if notification.isContentChanged, pushType != .widgets, pushType != .controls {
            throw misplaced("contentChanged", in: pushType, belongsTo: "widgets or controls")
        }
        try checkTexts(notification)
        switch pushType {
        case .alert: try checkAlert(notification, members)
        case .background: try checkBackground(notification, members)
        case .liveactivity: try checkLiveActivity(notification, members)
        case .widgets, .controls: try checkReload(notification, members, pushType)
        case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: break
        }
    }

    /// Given a text and a key in the app's strings, Apple shows one and ignores the other.
    private static func checkTexts(_ notification: Notification) throws(EventRejection) {
        if notification.title != nil, notification.localizedTitle != nil { throw twice("title", "titleLocKey") }
        if notification.subtitle != nil, notification.localizedSubtitle != nil {
            throw twice("subtitle", "subtitleLocKey")
        }
        if notification.body != nil, notification.localizedBody != nil { throw twice("body", "locKey") }
    }

    private static func checkAlert(
        _ notification: Notification, _ members: Notification.Members
    ) throws(EventRejection) {
        guard members.hasText || notification.badge != nil || notification.sound != nil else {
            throw invalid(
                "an alert push needs an alert text, a badge or a sound; for a silent push set contentAvailable and "
                    + "nothing else, or options.pushType to background")
        }
        // Apple, "Modifying content in newly delivered notifications": the extension runs for an alert that is shown.
        guard !notification.isContentMutable || members.hasText else {
            throw invalid(
                "mutableContent lets the app change the text that is shown, but there is none; add a text or leave "
                    + "mutableContent out")
        }
    }

    private static func checkBackground(
        _ notification: Notification, _ members: Notification.Members
    ) throws(EventRejection) {
        guard notification.isContentAvailable else {
            throw invalid("a background push needs contentAvailable: true")
        }
        if let member = members.firstPresentationMember {
            throw invalid(
                "a background push may hold nothing but contentAvailable and keys of your own, but it has \(member); "
                    + "leave that out, or set options.pushType to alert")
        }
    }

    private static func checkReload(
        _ notification: Notification, _ members: Notification.Members, _ pushType: PushType
    ) throws(EventRejection) {
        guard notification.isContentChanged else {
            throw invalid("a \(pushType.rawValue) push needs contentChanged: true")
        }
        let other = members.firstPresentationMember ?? (notification.isContentAvailable ? "contentAvailable" : nil)
        if let other {
            throw invalid(
                "a \(pushType.rawValue) push may hold nothing but contentChanged and keys of your own, but it has "
                    + "\(other); send that in a push of its own")
        }
    }

    private static func checkLiveActivity(
        _ notification: Notification, _ members: Notification.Members
    ) throws(EventRejection) {
        guard let event = notification.liveActivityEvent else {
            throw invalid("a liveactivity push needs event: start, update or end")
        }
        var missing: [String] = []
        if notification.timestampSeconds == nil { missing.append("timestamp") }
        switch event {
        case .start:
            if notification.contentState == nil { missing.append("contentState") }
            if notification.attributesType == nil { missing.append("attributesType") }
            if notification.attributes == nil { missing.append("attributes") }
            if !members.hasText { missing.append("an alert text") }
        case .update:
            if notification.contentState == nil { missing.append("contentState") }
        case .end:
            break
        }
        guard missing.isEmpty else {
            throw invalid("a liveactivity push that is to \(event.rawValue) needs \(missing.joined(separator: ", "))")
        }
        if event != .start, let member = members.firstStartMember {
            throw invalid("\(member) goes with the event start only, but event is \(event.rawValue); leave it out")
        }
        if event != .end, notification.dismissalDateSeconds != nil {
            throw invalid("dismissalDate goes with the event end only, but event is \(event.rawValue); leave it out")
        }
        if notification.inputPushChannel != nil, notification.requestsInputPushToken {
            throw invalid(
                "inputPushChannel and inputPushToken exclude each other: a Live Activity is updated by its channel or "
                    + "by a token of its own; leave one of them out")
        }
    }

    private static func misplaced(
        _ member: String, in pushType: PushType, belongsTo other: String
    ) -> EventRejection {
        invalid(
            "\(member) goes with a push of type \(other) only, but this one is of type \(pushType.rawValue); leave it "
                + "out, or set options.pushType")
    }

    private static func twice(_ text: String, _ key: String) -> EventRejection {
        invalid("\(text) and \(key) are both there, and Apple ignores one of them; leave one of them out")
    }

    /// Checks for values that are impossible for every push type.
    static func checkValues(
        of notification: Notification, _ members: Notification.Members
    ) throws(EventRejection) {
        if let badge = notification.badge, badge < 0 {
            throw EventRejection(.invalidField, "notification.badge is \(badge); it must be 0 (clears it) or more")
        }
        if case .critical(_, let volume?) = notification.sound, !(0...1).contains(volume) {
            throw EventRejection(.invalidField, "notification.sound.volume is \(volume); it must be from 0 to 1")
        }
        if let score = notification.relevanceScore {
            // Live Activities may use any number (Apple, "Starting and updating Live Activities").
            guard score.isFinite, members.hasLiveActivityKeys || (0...1).contains(score) else {
                throw EventRejection(.invalidField, "notification.relevanceScore is \(score); it must be from 0 to 1")
            }
        }
        try checkObject(notification.contentState, "contentState")
        try checkObject(notification.attributes, "attributes")
        try checkCustomKeys(notification.customData)
    }

    private static func checkObject(_ value: RawJSON?, _ name: String) throws(EventRejection) {
        if let value, value.bytes.first != UInt8(ascii: "{") {
            throw EventRejection(.invalidField, "notification.\(name) must be a JSON object")
        }
    }

    private static func checkCustomKeys(_ data: [CustomDatum]) throws(EventRejection) {
        var seen: Set<ByteText> = []
        for datum in data {
            guard datum.key != "aps" else {
                throw EventRejection(
                    .invalidField, "a key of the app's own is named aps, which belongs to APNs; rename it")
            }
            guard seen.insert(ByteText(datum.key)).inserted else {
                throw EventRejection(.invalidField, "the app's own key \(datum.key.prefix(64)) is there twice")
            }
        }
    }

    private static func invalid(_ message: String) -> EventRejection { EventRejection(.invalidNotification, message) }
}
