/// The rules that depend on the push type, and those of single values.
extension NotificationRules {
    /// Checks what a push type demands of the payload.
    static func check(_ notification: Notification, as pushType: PushType) throws(EventRejection) {
        switch pushType {
        case .alert: try checkAlert(notification)
        case .background: try checkBackground(notification)
        case .liveactivity: try checkLiveActivity(notification)
        case .widgets, .controls:
            guard notification.isContentChanged else {
                throw invalid("a \(pushType.rawValue) push needs contentChanged: true")
            }
        case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip:
            break
        }
    }

    private static func checkAlert(_ notification: Notification) throws(EventRejection) {
        guard notification.isVisible else {
            throw invalid(
                "an alert push needs an alert text, a badge or a sound; for a silent push set contentAvailable and "
                    + "nothing else, or options.pushType to background")
        }
    }

    private static func checkBackground(_ notification: Notification) throws(EventRejection) {
        guard notification.isContentAvailable else {
            throw invalid("a background push needs contentAvailable: true")
        }
        if let key = notification.firstKeyBesideContentAvailable {
            throw invalid(
                "a background push may hold nothing but content-available and keys of your own, but it has \(key); "
                    + "leave that out, or set options.pushType to alert")
        }
    }

    private static func checkLiveActivity(_ notification: Notification) throws(EventRejection) {
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
            if !notification.hasAlert { missing.append("alert") }
        case .update:
            if notification.contentState == nil { missing.append("contentState") }
        case .end:
            break
        }
        guard missing.isEmpty else {
            throw invalid("a liveactivity push that is to \(event.rawValue) needs \(missing.joined(separator: ", "))")
        }
    }

    /// Checks values that are impossible whatever the push type is.
    static func checkValues(of notification: Notification) throws(EventRejection) {
        if let badge = notification.badge, badge < 0 {
            throw EventRejection(.invalidField, "notification.badge is \(badge); it must be 0 (clears it) or more")
        }
        if case .critical(_, let volume?) = notification.sound, !(0...1).contains(volume) {
            throw EventRejection(.invalidField, "notification.sound.volume is \(volume); it must be from 0 to 1")
        }
        if let score = notification.relevanceScore {
            // Live Activities may use any number (Apple, "Starting and updating Live Activities").
            guard score.isFinite, notification.hasLiveActivityKeys || (0...1).contains(score) else {
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
        var seen: Set<String> = []
        for datum in data {
            guard datum.key != "aps" else {
                throw EventRejection(
                    .invalidField, "a key of the app's own is named aps, which belongs to APNs; rename it")
            }
            guard seen.insert(datum.key).inserted else {
                throw EventRejection(.invalidField, "the app's own key \(datum.key.prefix(64)) is there twice")
            }
        }
    }

    private static func invalid(_ message: String) -> EventRejection { EventRejection(.invalidNotification, message) }
}
