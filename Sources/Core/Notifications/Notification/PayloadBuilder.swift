internal import JSON

/// Writes payloads as APNs takes them: every documented key of `aps`, straight into bytes.
///
/// Source: Apple, "Generating a remote notification"; for Live Activities "Starting and updating Live Activities with
/// ActivityKit push notifications". It checks nothing: `NotificationRules` does.
public struct PayloadBuilder {
    private var writer = JSONWriter(capacityBytes: 4_096)

    /// Creates a builder; its memory is reused from payload to payload.
    public init() {}

    /// Writes the payload of a notification.
    ///
    /// - Parameter notification: the content of the push.
    /// - Returns: the JSON, for example `{"aps":{"alert":"Hello"}}`. `aps` is left out if nothing stands in it and
    ///   there are keys of the app's own.
    public mutating func payload(of notification: Notification) -> [UInt8] {
        payload(of: notification, Notification.Members(of: notification))
    }

    fileprivate mutating func payload(of notification: Notification, _ members: Notification.Members) -> [UInt8] {
        writer.removeAll()
        writer.beginObject()
        if notification.customData.isEmpty || members.hasAnyAPSKey {
            writer.key("aps")
            writer.beginObject()
            writeDisplay(notification, members)
            writeDelivery(notification)
            writeLiveActivity(notification)
            writer.endObject()
        }
        if let image = notification.image, !notification.customData.contains(where: { $0.key == "image" }) {
            writer.member("image", image)
        }
        for datum in notification.customData {
            writer.key(dynamic: datum.key)
            writer.raw(datum.value.bytes)
        }
        writer.endObject()
        return finishedBytes()
    }

    /// Writes the silent payload that tells a Cognito Sync client about a dataset.
    ///
    /// The keys under `data` are those of the Cognito clients. `syncCount` is a string of decimal digits, because
    /// Amazon's client for Android reads a string (`Long.parseLong`) and those for iOS read either. An event without a
    /// count has no `syncCount`. A deletion and a merge say so in `change`, which those clients ignore.
    ///
    /// - Parameter change: the dataset and its change.
    /// - Returns: the JSON, `{"aps":{"content-available":1},"data":{…}}`.
    public mutating func payload(of change: DatasetChange) -> [UInt8] {
        writer.removeAll()
        writer.part(#"{"aps":{"content-available":1},"data":{"source":"cognito-sync","identityPoolId":"#)
        writer.string(change.key.identityPoolID)
        writer.part(#","identityId":"#)
        writer.string(change.key.identityID)
        writer.part(#","datasetName":"#)
        writer.string(change.key.datasetName)
        if let syncCount = change.syncCount {
            writer.part(#","syncCount":""#)
            writer.integer(syncCount)
            writer.part(#"""#)
        }
        for (key, value) in change.kindTexts {
            writer.part(",")
            writer.member(key, value)
        }
        writer.part("}}")
        return finishedBytes()
    }

    /// A copy of exactly the payload's size, so that the writer keeps its memory for the next one.
    private func finishedBytes() -> [UInt8] { writer.bytes.withUnsafeBufferPointer { Array($0) } }

    // MARK: The groups of keys

    private mutating func writeDisplay(_ notification: Notification, _ members: Notification.Members) {
        // In a Live Activity the sound is a part of the alert, as in Apple's samples.
        let alertSound = members.hasLiveActivityKeys ? notification.sound : nil
        if members.hasAlert || alertSound != nil { writeAlert(notification, members, alertSound) }
        writer.member("badge", notification.badge)
        if let sound = notification.sound, alertSound == nil { write(sound) }
        writer.member("thread-id", notification.threadID)
        writer.member("category", notification.category)
        writer.member("interruption-level", notification.interruptionLevel?.rawValue)
        writer.member("relevance-score", notification.relevanceScore)
        writer.member("filter-criteria", notification.filterCriteria)
    }

    private mutating func writeDelivery(_ notification: Notification) {
        if notification.isContentAvailable { writer.member("content-available", 1) }
        if notification.isContentMutable || notification.image != nil { writer.member("mutable-content", 1) }
        writer.member("target-content-id", notification.targetContentID)
        if notification.isContentChanged {
            writer.member("content-changed", true)
        }
    }

    private mutating func writeLiveActivity(_ notification: Notification) {
        writer.member("timestamp", notification.timestampSeconds)
        writer.member("event", notification.liveActivityEvent?.rawValue)
        writer.member("content-state", notification.contentState)
        writer.member("stale-date", notification.staleDateSeconds)
        writer.member("dismissal-date", notification.dismissalDateSeconds)
        writer.member("attributes-type", notification.attributesType)
        writer.member("attributes", notification.attributes)
        writer.member("input-push-channel", notification.inputPushChannel)
        if notification.requestsInputPushToken { writer.member("input-push-token", 1) }
    }

    private mutating func writeAlert(
        _ notification: Notification, _ members: Notification.Members, _ sound: Notification.Sound?
    ) {
        writer.key("alert")
        if let body = notification.body, members.hasOnlyBody, sound == nil {
            writer.string(body)
            return
        }
        writer.beginObject()
        writer.member("title", notification.title)
        writer.member("subtitle", notification.subtitle)
        writer.member("body", notification.body)
        if members.hasLiveActivityKeys {
            if let text = notification.localizedTitle, notification.title == nil { writeObject("title", text) }
            if let text = notification.localizedSubtitle, notification.subtitle == nil { writeObject("subtitle", text) }
            if let text = notification.localizedBody, notification.body == nil { writeObject("body", text) }
        } else {
            writer.members("title-loc-key", "title-loc-args", notification.localizedTitle)
            writer.members("subtitle-loc-key", "subtitle-loc-args", notification.localizedSubtitle)
            writer.members("loc-key", "loc-args", notification.localizedBody)
        }
        writer.member("action-loc-key", notification.actionLocalizationKey)
        writer.member("launch-image", notification.launchImage)
        if let sound { write(sound) }
        writer.endObject()
    }

    // MARK: Single values

    /// The form that the alert of a Live Activity uses: an object in place of the text.
    private mutating func writeObject(_ key: StaticString, _ text: Notification.LocalizedText) {
        writer.object(key) { $0.members("loc-key", "loc-args", text) }
    }

    private mutating func write(_ sound: Notification.Sound) {
        writer.key("sound")
        switch sound {
        case .named(let name):
            writer.string(name)
        case .critical(let name, let volume):
            writer.beginObject()
            writer.member("critical", 1)
            writer.member("name", name)
            writer.member("volume", volume)
            writer.endObject()
        }
    }
}

/// Builds the content of an event once for all its devices: decides headers, checks rules, renders the payload.
public struct PushContentBuilder {
    private let rules: NotificationRules
    private var payloads = PayloadBuilder()

    /// Creates a builder for the pushes of one app.
    ///
    /// - Parameter bundleID: the app's bundle identifier, from which the topic of each push type is made.
    public init(bundleID: String) { rules = NotificationRules(bundleID: bundleID) }

    /// Makes the content of a push that a backend asked for.
    ///
    /// - Parameters:
    ///   - notification: the content of the push.
    ///   - options: the headers; the notification decides those that are nil.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` or `invalidField`, saying what would be right.
    public mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        let members = Notification.Members(of: notification)
        let headers = try rules.headers(for: notification, members, options: options)
        return try content(payload: payloads.payload(of: notification, members), headers: headers)
    }

    /// Makes the silent push about a dataset for the other devices of an identity.
    ///
    /// Its collapse identifier is derived from the dataset, so that a device that was away gets the newest change
    /// only.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - expirationSeconds: the time at which the push expires, in seconds since 1970; nil leaves storage to APNs.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` if the names are so long that the payload exceeds APNs' limit.
    public mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent {
        let options = PushOptions(
            expirationSeconds: expirationSeconds, collapseID: DerivedCollapseID.ofDataset(change.key))
        let headers = try rules.headers(pushType: .background, options: options)
        return try content(payload: payloads.payload(of: change), headers: headers)
    }

    private func content(
        payload: [UInt8], headers: NotificationRules.Headers
    ) throws(EventRejection) -> PushContent {
        try NotificationRules.checkPayloadSize(payload.count, pushType: headers.pushType)
        return PushContent(
            payload: payload, topic: headers.topic, pushType: headers.pushType, priority: headers.priority,
            expirationSeconds: headers.expirationSeconds, collapseID: headers.collapseID)
    }
}

/// The content of an event, rendered once: the payload and the headers that all its pushes share.
public final class PushContent: Sendable {
    /// The JSON payload, within Apple's limit.
    public let payload: [UInt8]
    /// The header `apns-topic`: the bundle identifier with the suffix of the push type.
    ///
    /// For Web Push it is the field `Topic`, and empty for none.
    public let topic: String
    /// The header `apns-push-type`.
    public let pushType: PushType
    /// The header `apns-priority`.
    public let priority: PushPriority
    /// The header `apns-expiration`, in seconds since 1970; nil leaves storage to APNs.
    public let expirationSeconds: Int64?
    /// The header `apns-collapse-id`, at most 64 bytes.
    public let collapseID: String?

    /// Creates a content from parts that have been checked.
    public init(
        payload: [UInt8], topic: String, pushType: PushType, priority: PushPriority, expirationSeconds: Int64?,
        collapseID: String?
    ) {
        self.payload = payload
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
    }
    /// The same headers with another payload: that of one device, if it is encrypted.
    public func replacingPayload(by payload: [UInt8]) -> PushContent {
        PushContent(
            payload: payload, topic: topic, pushType: pushType, priority: priority,
            expirationSeconds: expirationSeconds, collapseID: collapseID)
    }
}
