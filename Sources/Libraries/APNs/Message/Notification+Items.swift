internal import FoundationEssentials
import Notifications
internal import PushLibrary

extension Notifications.Notification {
    mutating func add(_ item: PushItem) throws(PushError) {
        if let name = item.emptyText {
            throw PushError(.messageInvalid, "\(name) is empty, and Apple ignores it then; leave it out to say nothing")
        }
        switch item {
        case .title(let text): title = text
        case .localizedTitle(let key, let arguments): localizedTitle = .init(key: key, arguments: arguments)
        case .subtitle(let text): subtitle = text
        case .localizedSubtitle(let key, let arguments): localizedSubtitle = .init(key: key, arguments: arguments)
        case .body(let text): body = text
        case .localizedBody(let key, let arguments): localizedBody = .init(key: key, arguments: arguments)
        case .action(let key): actionLocalizationKey = key
        case .launchImage(let name): launchImage = name
        case .badge(let number): badge = number
        case .sound(let name): sound = .named(name)
        case .criticalSound(let name, let volume): sound = .critical(name: name, volume: volume)
        case .contentAvailable: isContentAvailable = true
        case .mutableContent: isContentMutable = true
        case .contentChanged: isContentChanged = true
        case .category(let name): category = name
        case .threadID(let name): threadID = name
        case .interruptionLevel(let value): interruptionLevel = value.level
        case .relevanceScore(let score): relevanceScore = score
        case .targetContentID(let name): targetContentID = name
        case .filterCriteria(let criteria): filterCriteria = criteria
        case .liveActivity(let step): try add(step)
        case .custom(let key, let value): try add(value, under: key)
        }
    }

    private mutating func add(_ step: LiveActivityStep) throws(PushError) {
        switch step {
        case .start(let type, let attributes, let state, let timestamp, let stale):
            liveActivityEvent = .start
            attributesType = type
            self.attributes = try Self.object(attributes, name: "attributes")
            contentState = try Self.object(state, name: "contentState")
            try setTimes(timestamp: timestamp, stale: stale)
        case .update(let state, let timestamp, let stale):
            liveActivityEvent = .update
            contentState = try Self.object(state, name: "contentState")
            try setTimes(timestamp: timestamp, stale: stale)
        case .end(let state, let timestamp, let dismissal):
            liveActivityEvent = .end
            contentState = try state.map { value throws(PushError) in try Self.object(value, name: "contentState") }
            try setTimes(timestamp: timestamp, dismissal: dismissal)
        }
    }

    private mutating func setTimes(timestamp: Date, stale: Date? = nil, dismissal: Date? = nil) throws(PushError) {
        timestampSeconds = try UnixTime.seconds(timestamp, name: "timestamp")
        staleDateSeconds = try stale.map { date throws(PushError) in try UnixTime.seconds(date, name: "staleDate") }
        dismissalDateSeconds = try dismissal.map { date throws(PushError) in
            try UnixTime.seconds(date, name: "dismissalDate")
        }
    }

    private mutating func add(_ value: any Encodable, under key: String) throws(PushError) {
        guard key != "aps" else {
            throw PushError(.messageInvalid, "the key aps is Apple's; its values have items of their own")
        }
        let datum = CustomDatum(key: key, value: try RawJSON(encoding: value, name: key))
        if let index = customData.firstIndex(where: { $0.key == key }) {
            customData[index] = datum
        } else {
            customData.append(datum)
        }
    }

    private static func object(_ value: any Encodable, name: String) throws(PushError) -> RawJSON {
        let json = try RawJSON(encoding: value, name: name)
        guard json.bytes.first == UInt8(ascii: "{") else {
            throw PushError(.messageInvalid, "\(name) must be encoded as a JSON object, like a struct or a dictionary")
        }
        return json
    }
}

extension PushItem {
    /// Apple's name of the text of this item, if it is empty.
    fileprivate var emptyText: String? {
        let (name, text) =
            switch self {
            case .title(let text): ("title", text)
            case .localizedTitle(let key, _): ("title-loc-key", key)
            case .subtitle(let text): ("subtitle", text)
            case .localizedSubtitle(let key, _): ("subtitle-loc-key", key)
            case .body(let text): ("body", text)
            case .localizedBody(let key, _): ("loc-key", key)
            case .action(let key): ("action-loc-key", key)
            case .launchImage(let name): ("launch-image", name)
            case .sound(let name), .criticalSound(let name, _): ("sound", name)
            case .category(let name): ("category", name)
            case .threadID(let name): ("thread-id", name)
            case .targetContentID(let name): ("target-content-id", name)
            case .filterCriteria(let criteria): ("filter-criteria", criteria)
            case .badge, .contentAvailable, .mutableContent, .contentChanged, .interruptionLevel, .relevanceScore,
                .liveActivity, .custom:
                ("", "-")
            }
        return text.isEmpty ? name : nil
    }
}
