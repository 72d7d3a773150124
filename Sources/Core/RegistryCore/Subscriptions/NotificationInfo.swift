/// The content of a subscription's pushes: CloudKit's `CKSubscription.NotificationInfo`, and a little more.
///
/// As JSON it has CloudKit Web Services' names, and stands so in the registry and in its API:
///
/// | name | becomes |
/// |---|---|
/// | `alertBody`, `title`, `subtitle` | texts; `{field}` stands for a field of the record, `{{` and `}}` for braces |
/// | `alertLocalizationKey`, `title…Key`, `subtitle…Key` | keys in the app's strings; they win over the texts |
/// | `alertLocalizationArgs`, `title…Args`, `subtitle…Args` | names of fields whose values are the arguments |
/// | `alertActionLocalizationKey`, `alertLaunchImage`, `soundName`, `category` | as they are |
/// | `shouldBadge` | adds one to the device's badge |
/// | `shouldSendContentAvailable`, `shouldSendMutableContent` | `content-available`, `mutable-content` |
/// | `collapseIDKey` | the field whose value becomes the collapse identifier |
/// | `threadID` | `thread-id`, a text with `{field}` |
/// | `additionalFields` | up to three fields whose values go along (CloudKit's `desiredKeys`) |
public struct NotificationInfo: Hashable, Sendable {
    /// A text in the app's strings, with fields of the record as its arguments.
    public struct LocalizedText: Hashable, Sendable {
        /// The key in the app's strings.
        public var key: String
        /// The fields whose values are the arguments.
        public var argumentFields: [String]

        /// Creates a text.
        public init(key: String, argumentFields: [String] = []) {
            self.key = key
            self.argumentFields = argumentFields
        }
    }

    /// The most fields that may go along with a push (CloudKit, `desiredKeys`).
    static let additionalFieldsMaximum = 3
    /// The longest text, in bytes of UTF-8; a payload has 4096.
    public static let textBytesMaximum = 2_048
    /// The length of all of it as JSON, in bytes; a longer one is refused before it is read.
    public static let writtenBytesMaximum = 64 * 1024

    /// `alertBody`.
    public var alertBody: String?
    /// `alertLocalizationKey` and `alertLocalizationArgs`.
    public var localizedAlert: LocalizedText?
    /// `title`.
    public var title: String?
    /// `titleLocalizationKey` and `titleLocalizationArgs`.
    public var localizedTitle: LocalizedText?
    /// `subtitle`.
    public var subtitle: String?
    /// `subtitleLocalizationKey` and `subtitleLocalizationArgs`.
    public var localizedSubtitle: LocalizedText?
    /// `alertActionLocalizationKey`.
    public var alertActionLocalizationKey: String?
    /// `alertLaunchImage`.
    public var alertLaunchImage: String?
    /// `soundName`.
    public var soundName: String?
    /// `category`.
    public var category: String?
    /// `shouldBadge`.
    public var shouldBadge = false
    /// `shouldSendContentAvailable`.
    public var shouldSendContentAvailable = false
    /// `shouldSendMutableContent`.
    public var shouldSendMutableContent = false
    /// `collapseIDKey`.
    public var collapseIDKey: String?
    /// `threadID`.
    public var threadID: String?
    /// `additionalFields`.
    public var additionalFields: [String] = []

    /// Creates the information of a push that shows nothing.
    public init() {}

    /// Whether the push shows, plays or badges something; one that does not is silent.
    public var isVisible: Bool { showsMoreThanSound || soundName != nil }

    /// Whether the push plays a sound, and neither shows a text nor a badge.
    var hasOnlySound: Bool { soundName != nil && !showsMoreThanSound }

    /// Whether the push shows a text.
    var showsText: Bool {
        alertBody != nil || localizedAlert != nil || title != nil || localizedTitle != nil || subtitle != nil
            || localizedSubtitle != nil
    }

    private var showsMoreThanSound: Bool { showsText || shouldBadge }

    /// Checks the limits.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public func check() throws(RegistryError) {
        guard additionalFields.count <= Self.additionalFieldsMaximum else {
            throw RegistryError(
                .invalid,
                "notificationInfo.additionalFields has \(additionalFields.count) fields; at most "
                    + "\(Self.additionalFieldsMaximum) can go along with a push.")
        }
        let texts = [
            alertBody, localizedAlert?.key, title, localizedTitle?.key, subtitle, localizedSubtitle?.key,
            alertActionLocalizationKey, alertLaunchImage, soundName, category, collapseIDKey, threadID,
        ]
        let fields =
            additionalFields
            + [localizedAlert, localizedTitle, localizedSubtitle].flatMap {
                $0?.argumentFields ?? []
            }
        guard fields.count <= 64 else {
            throw RegistryError(.invalid, "notificationInfo names \(fields.count) fields; at most 64 are allowed.")
        }
        for text in texts.compactMap({ $0 }) + fields where text.utf8.count > Self.textBytesMaximum {
            throw RegistryError(
                .invalid,
                "A text of notificationInfo has \(text.utf8.count) bytes; at most \(Self.textBytesMaximum) are allowed."
            )
        }
    }
}
