import Essentials
internal import JSON
import Notifications

extension Notification {
    /// Reads `notification`.
    init(_ fields: FieldReader) throws(EventRejection) {
        try fields.allowOnly(Self.members)
        self.init()
        try readAlert(fields)
        try readPresentation(fields)
        try readDelivery(fields)
        try readLiveActivity(fields)
        if let data = try fields.reader("data") { customData = try Self.customData(data) }
    }

    static let memberNames: [StaticString] = [
        "title", "body", "subtitle", "badge", "sound", "data", "threadId", "category", "contentAvailable",
        "mutableContent", "interruptionLevel", "titleLocKey", "titleLocArgs", "subtitleLocKey", "subtitleLocArgs",
        "locKey", "locArgs", "actionLocKey", "launchImage", "targetContentId", "relevanceScore", "filterCriteria",
        "contentChanged", "event", "timestamp", "contentState", "staleDate", "dismissalDate", "attributesType",
        "attributes", "inputPushChannel", "inputPushToken",
    ]

    private static let members = MemberNames(
        memberNames,
        advice: [
            "alert": "give title, subtitle and body", "aps": "give its members by themselves, for example threadId",
            "message": "did you mean body?", "text": "did you mean body?",
            "custom": "keys of the app's own belong into data.notification.data",
        ],
        neighbors: [("data.options", PushOptions.memberNames), ("data", RequestedPush.targets)])

    private mutating func readAlert(_ fields: FieldReader) throws(EventRejection) {
        title = try fields.text("title", .shown)
        localizedTitle = try LocalizedText(fields, key: "titleLocKey", arguments: "titleLocArgs")
        subtitle = try fields.text("subtitle", .shown)
        localizedSubtitle = try LocalizedText(fields, key: "subtitleLocKey", arguments: "subtitleLocArgs")
        body = try fields.text("body", .shown)
        localizedBody = try LocalizedText(fields, key: "locKey", arguments: "locArgs")
        actionLocalizationKey = try fields.text("actionLocKey", .shown)
        launchImage = try fields.text("launchImage", .shown)
    }

    private mutating func readPresentation(_ fields: FieldReader) throws(EventRejection) {
        badge = try fields.integer(
            "badge", 0...Int64(Int32.max), "a whole number of 0 to \(Int32.max); 0 clears the badge"
        )
        .map { number in Int(number) }
        sound = try Sound(fields)
        threadID = try fields.text("threadId", .shown)
        category = try fields.text("category", .shown)
        targetContentID = try fields.text("targetContentId", .shown)
        interruptionLevel = try fields.choice("interruptionLevel", of: InterruptionLevel.self)
        relevanceScore = try fields.number("relevanceScore", "a number")
        filterCriteria = try fields.text("filterCriteria", .shown)
    }

    private mutating func readDelivery(_ fields: FieldReader) throws(EventRejection) {
        isContentAvailable = try fields.flag("contentAvailable")
        isContentMutable = try fields.flag("mutableContent")
        isContentChanged = try fields.flag("contentChanged")
    }

    private mutating func readLiveActivity(_ fields: FieldReader) throws(EventRejection) {
        staleDateSeconds = try fields.moment("staleDate")
        contentState = try fields.rawObject("contentState")
        timestampSeconds = try fields.moment("timestamp")
        liveActivityEvent = try fields.choice("event", of: LiveActivityEvent.self)
        dismissalDateSeconds = try fields.moment("dismissalDate")
        attributesType = try fields.text("attributesType", .shown)
        attributes = try fields.rawObject("attributes")
        requestsInputPushToken = try fields.flag("inputPushToken")
        inputPushChannel = try fields.text("inputPushChannel", .base64)
    }

    private static func customData(_ data: FieldReader) throws(EventRejection) -> [CustomDatum] {
        var members: [CustomDatum] = []
        var keys: Set<ByteText> = []
        for member in data.object {
            let key = member.key
            guard key != "aps" else {
                throw EventRejection(
                    .invalidField,
                    "\(data.path) has the key aps, which is Apple's; what belongs there has its own fields in"
                        + " data.notification, for example badge")
            }
            guard keys.insert(ByteText(key)).inserted else { continue }
            guard members.count < EventLimits.customKeysMaximum else {
                throw FieldReader.invalid(
                    data.path, found: "an object of more than \(EventLimits.customKeysMaximum) keys",
                    "small enough for a payload of 4096 bytes")
            }
            members.append(CustomDatum(key: key, value: RawJSON(validated: member.value.minified)))
        }
        return members
    }
}

extension Notification.LocalizedText {
    /// Reads a key and its arguments; nil if neither is there.
    fileprivate init?(
        _ fields: FieldReader, key: StaticString, arguments argumentsKey: StaticString
    ) throws(EventRejection) {
        let arguments = try fields.texts(argumentsKey)
        guard let key = try fields.text(key, .shown) else {
            guard arguments == nil else {
                throw fields.missing(key, "the key in the app's strings that \(argumentsKey) belong to")
            }
            return nil
        }
        self.init(key: key, arguments: arguments ?? [])
    }
}

extension Notification.Sound {
    private static let members = MemberNames(["name", "critical", "volume"])

    /// Reads `sound`; nil if it is not there.
    fileprivate init?(_ fields: FieldReader) throws(EventRejection) {
        guard let value = fields.value("sound") else { return nil }
        if value.kind == .string {
            guard let name = try fields.text("sound", .shown) else { return nil }
            self = .named(name)
            return
        }
        guard let object = value.object else {
            throw fields.invalid(
                "sound", value, "the name of a sound, or an object such as {\"critical\": true, \"name\": \"default\"}")
        }
        let sound = FieldReader(object, path: fields.path("sound"))
        try sound.allowOnly(Self.members)
        guard let name = try sound.text("name", .shown) else {
            throw sound.missing("name", "the name of a sound, for example default")
        }
        let expectedVolume = "a number of 0 to 1"
        let volume = try sound.number("volume", expectedVolume)
        guard volume.map({ volume in (0...1).contains(volume) }) ?? true else {
            throw FieldReader.invalid(sound.path("volume"), found: volume.map { "\($0)" } ?? "", expectedVolume)
        }
        guard try sound.flag("critical") else {
            guard volume == nil else {
                throw sound.missing("critical", "true, because only a critical alert has a volume")
            }
            self = .named(name)
            return
        }
        self = .critical(name: name, volume: volume)
    }
}
