public import FoundationEssentials
import Notifications

extension Push {
    /// The content of a push, for the user and for the app.
    ///
    /// A member that is nil, empty or false is left out. The names are Apple's (Apple, "Generating a remote
    /// notification"); `deploy/push-services.md` says what becomes of each at the other push services.
    public struct Notification: Hashable, Sendable {
        /// A text of the app's own strings.
        public struct LocalizedText: Hashable, Sendable {
            /// The key in the app's strings.
            public var key: String
            /// The values for the placeholders of the string.
            public var arguments: [String]

            /// Names a text.
            ///
            /// - Parameters:
            ///   - key: the key in the app's strings.
            ///   - arguments: the values for the placeholders.
            public init(_ key: String, arguments: [String] = []) {
                self.key = key
                self.arguments = arguments
            }
        }

        /// The sound to play.
        public enum Sound: Hashable, Sendable {
            /// A file of the app, or `default`.
            case named(String)
            /// Plays although the device is muted; the volume is 0 to 1.
            case critical(name: String = "default", volume: Double? = nil)
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

        /// An event of a Live Activity.
        public enum ActivityEvent: String, CaseIterable, Sendable {
            /// It starts.
            case start
            /// It changes.
            case update
            /// It ends.
            case end
        }

        /// The title.
        public var title: String?
        /// The title, in the language of the device.
        public var localizedTitle: LocalizedText?
        /// The subtitle.
        public var subtitle: String?
        /// The subtitle, in the language of the device.
        public var localizedSubtitle: LocalizedText?
        /// The text.
        public var body: String?
        /// The text, in the language of the device.
        public var localizedBody: LocalizedText?
        /// The key of the text on the button that opens the app.
        public var actionLocalizationKey: String?
        /// The picture of the app's bundle to show while it is launched.
        public var launchImage: String?
        /// The `https` URL of a picture.
        public var image: String?
        /// The number on the app's icon; 0 clears it.
        public var badge: Int32?
        /// The sound.
        public var sound: Sound?
        /// Groups notifications.
        public var threadID: String?
        /// The category, which has the actions.
        public var category: String?
        /// Whether the app is woken.
        public var isContentAvailable = false
        /// Whether the app's service extension may change the notification.
        public var isContentMutable = false
        /// The window of the app to bring forward.
        public var targetContentID: String?
        /// How much it may interrupt.
        public var interruptionLevel: InterruptionLevel?
        /// Where it stands in a summary, 0 to 1.
        public var relevanceScore: Double?
        /// The criteria that a Focus filters by.
        public var filterCriteria: String?
        /// Whether widgets and controls are reloaded.
        public var isContentChanged = false
        /// The event of the Live Activity.
        public var activityEvent: ActivityEvent?
        /// When the content of the Live Activity was made.
        public var timestamp: Date?
        /// The content of the Live Activity.
        public var contentState: [String: EventValue] = [:]
        /// When the Live Activity's content is out of date.
        public var staleDate: Date?
        /// When the system removes the ended Live Activity.
        public var dismissalDate: Date?
        /// The type of the attributes of the Live Activity that starts.
        public var attributesType: String?
        /// The attributes of the Live Activity that starts.
        public var attributes: [String: EventValue] = [:]
        /// The broadcast channel of the Live Activity that starts, in base64.
        public var inputPushChannel: String?
        /// Whether the Live Activity that starts gets a token of its own.
        public var requestsInputPushToken = false
        /// Data for the app; no key may be `aps`.
        public var data: [String: EventValue] = [:]

        /// Begins a notification.
        ///
        /// - Parameters:
        ///   - title: the title.
        ///   - body: the text.
        ///   - data: data for the app.
        public init(title: String? = nil, body: String? = nil, data: [String: EventValue] = [:]) {
            self.title = title
            self.body = body
            self.data = data
        }
    }
}

// Writing the members.
extension Push.Notification {
    func write(to object: inout EventWriter) {
        for member in Notification.Member.allCases { write(member, to: &object) }
    }

    private func write(_ member: Notification.Member, to object: inout EventWriter) {
        let name = member.name
        switch member {
        case .title: object.member(name, title)
        case .titleLocKey: object.member(name, localizedTitle?.key)
        case .titleLocArgs: writeArguments(name, localizedTitle, to: &object)
        case .subtitle: object.member(name, subtitle)
        case .subtitleLocKey: object.member(name, localizedSubtitle?.key)
        case .subtitleLocArgs: writeArguments(name, localizedSubtitle, to: &object)
        case .body: object.member(name, body)
        case .locKey: object.member(name, localizedBody?.key)
        case .locArgs: writeArguments(name, localizedBody, to: &object)
        case .actionLocKey: object.member(name, actionLocalizationKey)
        case .launchImage: object.member(name, launchImage)
        case .image: object.member(name, image)
        case .badge: object.member(name, badge.map { Int64($0) })
        case .sound: writeSound(name, to: &object)
        case .threadID: object.member(name, threadID)
        case .category: object.member(name, category)
        case .contentAvailable: object.member(name, isContentAvailable)
        case .mutableContent: object.member(name, isContentMutable)
        case .targetContentID: object.member(name, targetContentID)
        case .interruptionLevel: object.member(name, interruptionLevel?.rawValue)
        case .relevanceScore: object.member(name, relevanceScore)
        case .filterCriteria: object.member(name, filterCriteria)
        case .contentChanged: object.member(name, isContentChanged)
        case .event: object.member(name, activityEvent?.rawValue)
        case .timestamp: object.member(name, timestamp)
        case .contentState: object.member(name, contentState)
        case .staleDate: object.member(name, staleDate)
        case .dismissalDate: object.member(name, dismissalDate)
        case .attributesType: object.member(name, attributesType)
        case .attributes: object.member(name, attributes)
        case .inputPushChannel: object.member(name, inputPushChannel)
        case .inputPushToken: object.member(name, requestsInputPushToken)
        case .data: object.member(name, data)
        }
    }

    private func writeArguments(_ name: StaticString, _ text: LocalizedText?, to object: inout EventWriter) {
        guard let text, !text.arguments.isEmpty else { return }
        object.member(name, text.arguments)
    }

    private func writeSound(_ name: StaticString, to object: inout EventWriter) {
        switch sound {
        case nil: break
        case .named(let file): object.member(name, file)
        case .critical(let file, let volume):
            object.member(name) { sound in
                sound.member("critical", true)
                sound.member("name", file)
                sound.member("volume", volume)
            }
        }
    }
}
