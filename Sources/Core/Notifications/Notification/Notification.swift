/// What a notification says: every documented key of Apple's `aps` dictionary, typed.
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
