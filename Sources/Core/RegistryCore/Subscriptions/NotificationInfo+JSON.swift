import ChangeEvents
public import JSON
public import Notifications

extension NotificationInfo {
    /// Reads CloudKit's JSON.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - path: its name in messages.
    ///   - isLenient: whether members of other names, and what Apple ignores, are passed over: an empty sound, for
    ///     example, or arguments of a text that has no key. Stored notifications were checked before.
    /// - Throws: `EventRejection` with `invalidField`, `missingField` or `unknownField`.
    public init(
        _ value: JSONValue, path: String = "notificationInfo", isLenient: Bool = false
    ) throws(EventRejection) {
        let fields = try FieldReader(value, path: path)
        guard value.isWritten(withinBytes: Self.writtenBytesMaximum) else {
            throw EventRejection(
                .invalidField,
                "\(path) is longer than \(Self.writtenBytesMaximum) bytes, the most that is accepted")
        }
        if !isLenient {
            try fields.allowOnly(Self.members)
            for key in Self.texts { _ = try fields.text(key, .shown) }
        }
        self.init()
        alertBody = try fields.text("alertBody")
        localizedAlert = try LocalizedText(
            fields, key: "alertLocalizationKey", arguments: "alertLocalizationArgs", isLenient: isLenient)
        title = try fields.text("title")
        localizedTitle = try LocalizedText(
            fields, key: "titleLocalizationKey", arguments: "titleLocalizationArgs", isLenient: isLenient)
        subtitle = try fields.text("subtitle")
        localizedSubtitle = try LocalizedText(
            fields, key: "subtitleLocalizationKey", arguments: "subtitleLocalizationArgs", isLenient: isLenient)
        alertActionLocalizationKey = try fields.text("alertActionLocalizationKey")
        alertLaunchImage = try fields.text("alertLaunchImage")
        soundName = try fields.text("soundName")
        category = try fields.text("category")
        shouldBadge = try fields.flag("shouldBadge")
        shouldSendContentAvailable = try fields.flag("shouldSendContentAvailable")
        shouldSendMutableContent = try fields.flag("shouldSendMutableContent")
        collapseIDKey = try fields.text("collapseIDKey")
        threadID = try fields.text("threadID")
        additionalFields = try fields.texts("additionalFields") ?? []
        if !isLenient, shouldSendMutableContent, !showsText {
            throw EventRejection(
                .invalidField,
                "\(path) has shouldSendMutableContent and no text, but an app can change only a shown text; give it "
                    + "an alertBody, a title or a subtitle, or leave shouldSendMutableContent out")
        }
    }

    /// The members that are shown, played or named, and say nothing when they are empty.
    private static let texts: [StaticString] = [
        "alertBody", "alertLocalizationKey", "title", "titleLocalizationKey", "subtitle", "subtitleLocalizationKey",
        "alertActionLocalizationKey", "alertLaunchImage", "soundName", "category", "collapseIDKey", "threadID",
    ]

    /// The members that it may have.
    static let members = MemberNames(
        [
            "alertBody", "alertLocalizationKey", "alertLocalizationArgs", "title", "titleLocalizationKey",
            "titleLocalizationArgs", "subtitle", "subtitleLocalizationKey", "subtitleLocalizationArgs",
            "alertActionLocalizationKey", "alertLaunchImage", "soundName", "category", "shouldBadge",
            "shouldSendContentAvailable", "shouldSendMutableContent", "collapseIDKey", "threadID", "additionalFields",
        ],
        advice: [
            "body": "did you mean alertBody?", "alert": "did you mean alertBody?", "sound": "did you mean soundName?",
            "badge": "did you mean shouldBadge?", "desiredKeys": "did you mean additionalFields?",
        ])

    /// Writes CloudKit's JSON, without unset members.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("alertBody", alertBody)
        Self.write("alertLocalizationKey", "alertLocalizationArgs", localizedAlert, to: &writer)
        writer.member("title", title)
        Self.write("titleLocalizationKey", "titleLocalizationArgs", localizedTitle, to: &writer)
        writer.member("subtitle", subtitle)
        Self.write("subtitleLocalizationKey", "subtitleLocalizationArgs", localizedSubtitle, to: &writer)
        writer.member("alertActionLocalizationKey", alertActionLocalizationKey)
        writer.member("alertLaunchImage", alertLaunchImage)
        writer.member("soundName", soundName)
        writer.member("category", category)
        Self.write("shouldBadge", shouldBadge, to: &writer)
        Self.write("shouldSendContentAvailable", shouldSendContentAvailable, to: &writer)
        Self.write("shouldSendMutableContent", shouldSendMutableContent, to: &writer)
        writer.member("collapseIDKey", collapseIDKey)
        writer.member("threadID", threadID)
        Self.write("additionalFields", additionalFields, to: &writer)
        writer.endObject()
    }

    /// The JSON as text.
    public var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    private static func write(_ key: StaticString, _ flag: Bool, to writer: inout JSONWriter) {
        if flag { writer.member(key, true) }
    }

    private static func write(_ key: StaticString, _ texts: [String], to writer: inout JSONWriter) {
        if !texts.isEmpty { writer.array(key, texts: texts) }
    }

    private static func write(
        _ key: StaticString, _ argumentsKey: StaticString, _ text: LocalizedText?, to writer: inout JSONWriter
    ) {
        guard let text else { return }
        writer.member(key, text.key)
        write(argumentsKey, text.argumentFields, to: &writer)
    }
}

extension NotificationInfo.LocalizedText {
    /// Reads a key and the fields of its arguments; nil if neither is there.
    fileprivate init?(
        _ fields: FieldReader, key: StaticString, arguments argumentsKey: StaticString, isLenient: Bool
    ) throws(EventRejection) {
        let arguments = try fields.texts(argumentsKey)
        guard let key = try fields.text(key) else {
            guard isLenient || arguments?.isEmpty ?? true else {
                throw fields.missing(key, "the key in the app's strings that \(argumentsKey) belong to")
            }
            return nil
        }
        self.init(key: key, argumentFields: arguments ?? [])
    }
}

extension NotificationInfo {
    /// The native framework's name of `additionalFields`, which some clients write.
    private static let desiredKeys: StaticString = "desiredKeys"

    /// Reads the dictionary of a client of CloudKit Web Services.
    ///
    /// Like Apple, it ignores empty texts, and the arguments of a text that has no key. An unknown member is refused,
    /// because the push would lack something that the client wanted. `desiredKeys` is another name of
    /// `additionalFields`.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - path: its name in messages.
    /// - Throws: `EventRejection` with `invalidField` or `unknownField`.
    public init(cloudKit value: JSONValue, path: String = "notificationInfo") throws(EventRejection) {
        let fields = try FieldReader(value, path: path)
        try fields.allowOnly(
            MemberNames(Self.members.names + [Self.desiredKeys], advice: Self.members.advice))
        try self.init(value, path: path, isLenient: true)
        guard let keys = try fields.texts(Self.desiredKeys) else { return }
        let given = fields.value("additionalFields") == nil ? keys : additionalFields
        guard keys.count == given.count, zip(keys, given).allSatisfy({ $0.utf8.elementsEqual($1.utf8) }) else {
            throw EventRejection(
                .invalidField,
                "\(path) has additionalFields and desiredKeys, which differ; they mean the same, so give one of them")
        }
        additionalFields = keys
    }
}
