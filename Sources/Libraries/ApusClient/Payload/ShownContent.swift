/// The content that a push shows, plays or counts: the members of `aps` that concern an app.
public struct ShownContent: Hashable, Sendable {
    /// A text of the app itself: its key, and the values of its placeholders.
    public struct LocalizedText: Hashable, Sendable {
        /// The key in the app's strings.
        public let key: String
        /// The values of the placeholders.
        public let arguments: [String]
    }

    /// The title.
    public let title: String?
    /// The line below the title.
    public let subtitle: String?
    /// The text.
    public let body: String?
    /// The title as a text of the app.
    public let localizedTitle: LocalizedText?
    /// The subtitle as a text of the app.
    public let localizedSubtitle: LocalizedText?
    /// The text as a text of the app.
    public let localizedBody: LocalizedText?
    /// The number on the app's icon; 0 removes it.
    public let badge: Int64?
    /// The name of the sound.
    public let soundName: String?
    /// Groups notifications.
    public let threadID: String?
    /// Names the actions that the user is offered.
    public let category: String?
    /// The address of a picture.
    public let image: String?
}

extension ShownContent {
    /// Reads what is shown; nil if nothing is.
    init?(_ payload: MemberReader, _ problems: inout FoundationReader) {
        let aps = payload.extra("aps", "an object", &problems, \.object)
        let system = MemberReader(members: aps ?? [:], path: "aps")
        let alert = MemberReader(members: system.members["alert"]?.object ?? [:], path: "aps.alert")
        title = alert.extraText("title", &problems)
        subtitle = alert.extraText("subtitle", &problems)
        if let text = system.members["alert"]?.text {
            body = text
        } else {
            _ = system.extra("alert", "a text or an object", &problems, \.object)
            body = alert.extraText("body", &problems)
        }
        localizedTitle = Self.localized("title-loc-key", "title-loc-args", alert, &problems)
        localizedSubtitle = Self.localized("subtitle-loc-key", "subtitle-loc-args", alert, &problems)
        localizedBody = Self.localized("loc-key", "loc-args", alert, &problems)
        badge = system.extra("badge", "a whole number of 0 or more", &problems) { value in
            value.integer.flatMap { $0 >= 0 ? $0 : nil }
        }
        soundName = system.extra("sound", "a name, or an object with one", &problems) { $0.text ?? $0["name"]?.text }
        threadID = system.extraText("thread-id", &problems)
        category = system.extraText("category", &problems)
        image = payload.members["image"]?.text
        let showsNothing =
            title == nil && subtitle == nil && body == nil && localizedTitle == nil && localizedSubtitle == nil
            && localizedBody == nil && badge == nil && soundName == nil
        if showsNothing { return nil }
    }

    private static func localized(
        _ key: String, _ arguments: String, _ alert: MemberReader, _ problems: inout FoundationReader
    ) -> LocalizedText? {
        guard let text = alert.extraText(key, &problems) else { return nil }
        let values = alert.extra(arguments, "an array of texts", &problems) { value in
            value.array.flatMap { elements in
                let texts = elements.compactMap(\.text)
                return texts.count == elements.count ? texts : nil
            }
        }
        return LocalizedText(key: text, arguments: values ?? [])
    }
}
