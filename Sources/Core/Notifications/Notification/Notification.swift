/// The content of a notification: every documented key of Apple's `aps` dictionary, typed.
///
/// A nil property is left out of the payload. In an event of type `push.requested` it is the object `notification`,
/// flat and in camel case; every field may be left out or `null`, and unknown ones are refused
/// (`deploy/schemas/push.requested.json`):
///
/// | field | value |
/// |---|---|
/// | `title`, `subtitle`, `body` | strings |
/// | `titleLocKey`, `subtitleLocKey`, `locKey` | keys in the app's strings |
/// | `titleLocArgs`, `subtitleLocArgs`, `locArgs` | arrays of strings; each needs its key |
/// | `actionLocKey`, `launchImage` | strings |
/// | `image` | the `https` URL of a picture; on an iPhone the app's service extension fetches it |
/// | `badge` | a whole number, 0 clears it |
/// | `sound` | a name, or `{"critical": true, "name": "default", "volume": 0.5}` |
/// | `threadId`, `category`, `targetContentId`, `filterCriteria` | strings |
/// | `interruptionLevel` | `passive`, `active`, `time-sensitive`, `critical` |
/// | `relevanceScore` | a number |
/// | `contentAvailable`, `mutableContent`, `contentChanged`, `inputPushToken` | booleans, or 1 and 0 |
/// | `staleDate`, `timestamp`, `dismissalDate` | seconds since 1970, or RFC 3339 timestamps |
/// | `event` | `start`, `update`, `end` |
/// | `contentState`, `attributes` | objects, passed on as they are |
/// | `attributesType` | a string |
/// | `inputPushChannel` | a channel identifier in base64 |
/// | `data` | an object of the app's own keys, which are put beside `aps`; of equal keys the first counts |
///
/// Source of the keys: Apple, "Generating a remote notification".
public struct Notification: Hashable, Sendable {
    /// A text that is given, or looked up in the app's own strings.
    public struct LocalizedText: Hashable, Sendable {
        /// The key in the app's strings.
        public var key: String
        /// The values for the placeholders of the string.
        public var arguments: [String]

        /// Creates a text.
        public init(key: String, arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }
    }

    /// The sound to play.
    public enum Sound: Hashable, Sendable {
        /// A file of the app, or `default`.
        case named(String)
        /// A critical alert: plays although the device is muted; `volume` is 0 to 1.
        case critical(name: String, volume: Double?)
    }

    /// How much a notification may interrupt.
    public enum InterruptionLevel: String, CaseIterable, Sendable {
        /// Only added to the list.
        case passive
        /// Lights up the screen.
        case active
        /// Breaks through most system controls.
        case timeSensitive = "time-sensitive"
        /// Breaks through all of them.
        case critical
    }

    /// The event of a Live Activity push.
    public enum LiveActivityEvent: String, CaseIterable, Sendable {
        /// Starts an activity.
        case start
        /// Updates it.
        case update
        /// Ends it.
        case end
    }

    /// `alert.title`.
    public var title: String?
    /// `alert.title-loc-key` and `-args`.
    public var localizedTitle: LocalizedText?
    /// `alert.subtitle`.
    public var subtitle: String?
    /// `alert.subtitle-loc-key` and `-args`.
    public var localizedSubtitle: LocalizedText?
    /// `alert.body`; alone it makes `alert` a plain string.
    public var body: String?
    /// `alert.loc-key` and `-args`.
    public var localizedBody: LocalizedText?
    /// `alert.action-loc-key`.
    public var actionLocalizationKey: String?
    /// `alert.launch-image`.
    public var launchImage: String?
    /// The URL of a picture to show.
    ///
    /// Apple has no key for it: it is written beside `aps`, unless `customData` has such a key, with `mutable-content`,
    /// so that the app's notification service extension can fetch it.
    public var image: String?
    /// `badge`; 0 clears it.
    public var badge: Int?
    /// `sound`.
    public var sound: Sound?
    /// `thread-id`.
    public var threadID: String?
    /// `category`.
    public var category: String?
    /// `content-available`: 1 if true.
    public var isContentAvailable = false
    /// `mutable-content`: 1 if true.
    public var isContentMutable = false
    /// `target-content-id`.
    public var targetContentID: String?
    /// `interruption-level`.
    public var interruptionLevel: InterruptionLevel?
    /// `relevance-score`.
    public var relevanceScore: Double?
    /// `filter-criteria`.
    public var filterCriteria: String?
    /// `stale-date`, in seconds since 1970.
    public var staleDateSeconds: Int64?
    /// `content-state`: a JSON object.
    public var contentState: RawJSON?
    /// `timestamp`, in seconds since 1970.
    public var timestampSeconds: Int64?
    /// `event`.
    public var liveActivityEvent: LiveActivityEvent?
    /// `dismissal-date`, in seconds since 1970.
    public var dismissalDateSeconds: Int64?
    /// `attributes-type`.
    public var attributesType: String?
    /// `attributes`: a JSON object.
    public var attributes: RawJSON?
    /// `input-push-channel`: a channel identifier in base64.
    public var inputPushChannel: String?
    /// `input-push-token`: 1 if true.
    public var requestsInputPushToken = false
    /// `content-changed`: true if true.
    public var isContentChanged = false
    /// Keys of the app's own, beside `aps`, each with any JSON value.
    ///
    /// None may be named `aps`.
    public var customData: [CustomDatum] = []

    /// Creates a notification that says nothing yet.
    public init() {}
}

/// One key of the app's own, beside `aps`, at the top level of a payload.
public struct CustomDatum: Hashable, Sendable {
    /// The key; not `aps`.
    public var key: String
    /// The value: any JSON value.
    public var value: RawJSON

    /// Creates a datum.
    public init(key: String, value: RawJSON) {
        self.key = key
        self.value = value
    }
}

/// A JSON value as it came, minified and known to be valid: passed on without being understood.
public struct RawJSON: Hashable, Sendable {
    /// The value's UTF-8 text.
    public var bytes: [UInt8]

    /// Wraps text that the caller knows to be one valid JSON value.
    public init(validated bytes: [UInt8]) { self.bytes = bytes }
}

/// The members of a notification, and their properties for the rules.
extension Notification {
    /// A member of the object `notification` in an event.
    ///
    /// A new key of `aps` begins with a case here, because events may hold no other members. The compiler then asks for
    /// its name, its aspect, its presence and its decoding, and a test for an event in which it changes the payload.
    public enum Member: Int, CaseIterable, Sendable {
        case title, body, subtitle, badge, sound, data, threadID, category, contentAvailable, mutableContent
        case interruptionLevel, titleLocKey, titleLocArgs, subtitleLocKey, subtitleLocArgs, locKey, locArgs
        case actionLocKey, launchImage, image, targetContentID, relevanceScore, filterCriteria, contentChanged
        case event, timestamp, contentState, staleDate, dismissalDate
        case attributesType, attributes, inputPushChannel, inputPushToken

        /// The name in an event.
        public var name: StaticString {
            switch self {
            case .title: "title"
            case .body: "body"
            case .subtitle: "subtitle"
            case .badge: "badge"
            case .sound: "sound"
            case .data: "data"
            case .threadID: "threadId"
            case .category: "category"
            case .contentAvailable: "contentAvailable"
            case .mutableContent: "mutableContent"
            case .interruptionLevel: "interruptionLevel"
            case .titleLocKey: "titleLocKey"
            case .titleLocArgs: "titleLocArgs"
            case .subtitleLocKey: "subtitleLocKey"
            case .subtitleLocArgs: "subtitleLocArgs"
            case .locKey: "locKey"
            case .locArgs: "locArgs"
            case .actionLocKey: "actionLocKey"
            case .launchImage: "launchImage"
            case .image: "image"
            case .targetContentID: "targetContentId"
            case .relevanceScore: "relevanceScore"
            case .filterCriteria: "filterCriteria"
            case .contentChanged: "contentChanged"
            case .event: "event"
            case .timestamp: "timestamp"
            case .contentState: "contentState"
            case .staleDate: "staleDate"
            case .dismissalDate: "dismissalDate"
            case .attributesType: "attributesType"
            case .attributes: "attributes"
            case .inputPushChannel: "inputPushChannel"
            case .inputPushToken: "inputPushToken"
            }
        }

        /// The member's aspect for the rules of the push types.
        fileprivate var aspect: Aspect {
            switch self {
            case .title, .titleLocKey, .titleLocArgs, .subtitle, .subtitleLocKey, .subtitleLocArgs, .body, .locKey,
                .locArgs:
                .text
            case .actionLocKey, .launchImage: .alert
            case .badge, .sound: .attention
            case .threadID, .category, .image, .mutableContent, .targetContentID, .interruptionLevel,
                .relevanceScore, .filterCriteria:
                .presentation
            case .contentAvailable, .contentChanged: .wake
            case .event, .timestamp, .contentState, .staleDate, .dismissalDate: .liveActivity
            case .attributesType, .attributes, .inputPushChannel, .inputPushToken: .liveActivityStart
            case .data: .custom
            }
        }
    }

    /// The aspects of members for the rules of the push types; each member has one.
    fileprivate enum Aspect {
        /// A text of the alert.
        case text
        /// Another key of the dictionary `alert`.
        case alert
        /// The badge or the sound, which a person notices without a text.
        case attention
        /// How the system presents a notification that a person notices.
        case presentation
        /// A key that only wakes the app or reloads its widgets.
        case wake
        /// A key that only a Live Activity has.
        case liveActivity
        /// A key that only the start of a Live Activity has.
        case liveActivityStart
        /// The app's own keys, beside `aps`.
        case custom
    }

    /// The members of a notification that are present, a bit each: found once for each push.
    struct Members {
        private static let all = Member.allCases
        private static let texts = Members(.text)
        private static let alerts = Members(.text, .alert)
        private static let visibles = Members(.text, .alert, .attention)
        private static let presentations = Members(.attention, .presentation)
        private static let liveActivities = Members(.liveActivity, .liveActivityStart)
        private static let liveActivityStarts = Members(.liveActivityStart)
        private static let ownKeys = Members(.custom)
        private static let body = Members(bits: 1 << Member.body.rawValue)

        private var bits: UInt64 = 0

        private init(bits: UInt64) { self.bits = bits }

        /// The members of some aspects.
        private init(_ aspects: Aspect...) {
            for member in Self.all where aspects.contains(member.aspect) { bits |= 1 << member.rawValue }
        }

        /// The members that a notification has.
        init(of notification: borrowing Notification) {
            for member in Self.all where notification.has(member) { bits |= 1 << member.rawValue }
        }

        private func hasAny(of others: Members) -> Bool { bits & others.bits != 0 }

        private func first(of others: Members) -> String? {
            let found = bits & others.bits
            return found == 0 ? nil : "\(Self.all[found.trailingZeroBitCount].name)"
        }

        /// Whether any key of `alert` is present.
        var hasAlert: Bool { hasAny(of: Self.alerts) }

        /// Whether the person would notice it: an alert, a badge or a sound.
        var isVisible: Bool { hasAny(of: Self.visibles) }

        /// Whether any key is present that only a Live Activity has.
        var hasLiveActivityKeys: Bool { hasAny(of: Self.liveActivities) }

        /// Whether a text is shown.
        var hasText: Bool { hasAny(of: Self.texts) }

        /// Whether the body is the only key of `alert`.
        var hasOnlyBody: Bool { bits & Self.alerts.bits == Self.body.bits }

        /// Whether any key of `aps` is present.
        var hasAnyAPSKey: Bool { bits & ~Self.ownKeys.bits != 0 }

        /// The first member that only a Live Activity has, by the name that events give it.
        var firstLiveActivityMember: String? { first(of: Self.liveActivities) }

        /// The first member that only the start of a Live Activity has.
        var firstStartMember: String? { first(of: Self.liveActivityStarts) }

        /// The first member that only a push has which the person notices.
        var firstPresentationMember: String? { hasAlert ? "an alert text" : first(of: Self.presentations) }
    }

    /// Whether a member is present.
    fileprivate func has(_ member: Member) -> Bool {
        switch member {
        case .title: title != nil
        case .body: body != nil
        case .subtitle: subtitle != nil
        case .badge: badge != nil
        case .sound: sound != nil
        case .data: !customData.isEmpty
        case .threadID: threadID != nil
        case .category: category != nil
        case .contentAvailable: isContentAvailable
        case .mutableContent: isContentMutable
        case .interruptionLevel: interruptionLevel != nil
        case .titleLocKey: localizedTitle != nil
        case .titleLocArgs: localizedTitle?.arguments.isEmpty == false
        case .subtitleLocKey: localizedSubtitle != nil
        case .subtitleLocArgs: localizedSubtitle?.arguments.isEmpty == false
        case .locKey: localizedBody != nil
        case .locArgs: localizedBody?.arguments.isEmpty == false
        case .actionLocKey: actionLocalizationKey != nil
        case .launchImage: launchImage != nil
        case .image: image != nil
        case .targetContentID: targetContentID != nil
        case .relevanceScore: relevanceScore != nil
        case .filterCriteria: filterCriteria != nil
        case .contentChanged: isContentChanged
        case .event: liveActivityEvent != nil
        case .timestamp: timestampSeconds != nil
        case .contentState: contentState != nil
        case .staleDate: staleDateSeconds != nil
        case .dismissalDate: dismissalDateSeconds != nil
        case .attributesType: attributesType != nil
        case .attributes: attributes != nil
        case .inputPushChannel: inputPushChannel != nil
        case .inputPushToken: requestsInputPushToken
        }
    }
}
