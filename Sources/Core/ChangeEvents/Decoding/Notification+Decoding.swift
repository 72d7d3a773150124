internal import JSON
import Notifications

extension Notification {
    /// Reads `notification`.
    init(_ fields: FieldReader) throws(EventRejection) {
        try fields.allowOnly(Self.members)
        self.init()
        for member in Member.allCases { try read(member, of: fields) }
    }

    /// Takes over what an object has for one push service; a member that is `null` is taken away.
    mutating func change(by fields: FieldReader) throws(EventRejection) {
        try fields.allowOnly(Self.members)
        for member in Member.allCases where fields.object[member.name] != nil {
            switch member {
            // Read with their key, without which they are refused.
            case .titleLocArgs: try read(.titleLocKey, of: fields)
            case .subtitleLocArgs: try read(.subtitleLocKey, of: fields)
            case .locArgs: try read(.locKey, of: fields)
            case .data: if fields.value(member.name) == nil { customData = [] } else { try read(member, of: fields) }
            default: try read(member, of: fields)
            }
        }
    }

    static let memberNames = Member.allCases.map(\.name)

    private static let members = MemberNames(
        memberNames,
        advice: [
            "alert": "give title, subtitle and body", "aps": "give its members by themselves, for example threadId",
            "message": "did you mean body?", "text": "did you mean body?",
            "custom": "keys of the app's own belong into data.notification.data",
        ],
        neighbors: [("data.options", PushOptions.memberNames), ("data", RequestedPush.targets)])

    private mutating func read(_ member: Member, of fields: FieldReader) throws(EventRejection) {
        let name = member.name
        switch member {
        case .title: title = try fields.text(name, .shown)
        case .titleLocKey: localizedTitle = try LocalizedText(fields, key: name, arguments: Member.titleLocArgs.name)
        case .subtitle: subtitle = try fields.text(name, .shown)
        case .subtitleLocKey:
            localizedSubtitle = try LocalizedText(fields, key: name, arguments: Member.subtitleLocArgs.name)
        case .body: body = try fields.text(name, .shown)
        case .locKey: localizedBody = try LocalizedText(fields, key: name, arguments: Member.locArgs.name)
        case .titleLocArgs, .subtitleLocArgs, .locArgs: break
        case .actionLocKey: actionLocalizationKey = try fields.text(name, .shown)
        case .launchImage: launchImage = try fields.text(name, .shown)
        case .image: image = try fields.text(name, .pictureAddress)
        case .badge:
            let expected = "a whole number of 0 to \(Int32.max); 0 clears the badge"
            badge = try fields.integer(name, 0...Int64(Int32.max), expected).map { number in Int(number) }
        case .sound: sound = try Sound(fields, name)
        case .threadID: threadID = try fields.text(name, .shown)
        case .category: category = try fields.text(name, .shown)
        case .targetContentID: targetContentID = try fields.text(name, .shown)
        case .interruptionLevel: interruptionLevel = try fields.choice(name, of: InterruptionLevel.self)
        case .relevanceScore: relevanceScore = try fields.number(name, "a number")
        case .filterCriteria: filterCriteria = try fields.text(name, .shown)
        case .contentAvailable: isContentAvailable = try fields.flag(name)
        case .mutableContent: isContentMutable = try fields.flag(name)
        case .contentChanged: isContentChanged = try fields.flag(name)
        case .staleDate: staleDateSeconds = try fields.moment(name)
        case .contentState: contentState = try fields.rawObject(name)
        case .timestamp: timestampSeconds = try fields.moment(name)
        case .event: liveActivityEvent = try fields.choice(name, of: LiveActivityEvent.self)
        case .dismissalDate: dismissalDateSeconds = try fields.moment(name)
        case .attributesType: attributesType = try fields.text(name, .shown)
        case .attributes: attributes = try fields.rawObject(name)
        case .inputPushToken: requestsInputPushToken = try fields.flag(name)
        case .inputPushChannel: inputPushChannel = try fields.text(name, .base64)
        case .data: if let data = try fields.reader(name) { customData = try Self.customData(data) }
        }
    }

    private static func customData(_ data: FieldReader) throws(EventRejection) -> [CustomDatum] {
        var members: [CustomDatum] = []
        for member in data.object {
            let key = member.key
            guard key != "aps" else {
                throw EventRejection(
                    .invalidField,
                    "\(data.path) has the key aps, which is Apple's; its values have their own fields in"
                        + " data.notification, for example badge")
            }
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
    fileprivate init?(_ fields: FieldReader, _ key: StaticString) throws(EventRejection) {
        guard let value = fields.value(key) else { return nil }
        if value.kind == .string {
            guard let name = try fields.text(key, .shown) else { return nil }
            self = .named(name)
            return
        }
        guard let object = value.object else {
            throw fields.invalid(
                key, value, "the name of a sound, or an object such as {\"critical\": true, \"name\": \"default\"}")
        }
        let sound = FieldReader(object, path: fields.path(key))
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
