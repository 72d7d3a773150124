/// The keys of the `aps` dictionary by which a payload shows what kind of push it is.
struct APSKeys: OptionSet, Sendable {
    let rawValue: UInt16

    static let alert = APSKeys(rawValue: 1 << 0)
    static let badge = APSKeys(rawValue: 1 << 1)
    static let sound = APSKeys(rawValue: 1 << 2)
    /// `content-available` with the value 1.
    static let contentAvailable = APSKeys(rawValue: 1 << 3)
    static let contentChanged = APSKeys(rawValue: 1 << 4)
    static let event = APSKeys(rawValue: 1 << 5)
    /// `event` with the value `start`.
    static let startEvent = APSKeys(rawValue: 1 << 6)
    static let timestamp = APSKeys(rawValue: 1 << 7)
    static let contentState = APSKeys(rawValue: 1 << 8)
    static let attributesType = APSKeys(rawValue: 1 << 9)
    static let attributes = APSKeys(rawValue: 1 << 10)

    static let staleDate = APSKeys(rawValue: 1 << 11)
    static let dismissalDate = APSKeys(rawValue: 1 << 12)
    static let inputPushChannel = APSKeys(rawValue: 1 << 13)
    static let inputPushToken = APSKeys(rawValue: 1 << 14)
    /// `event` with the value `end`.
    static let endEvent = APSKeys(rawValue: 1 << 15)

    /// The keys that only the start of a Live Activity may have.
    static let startOnly: APSKeys = [.attributesType, .attributes, .inputPushChannel, .inputPushToken]
    /// The keys that only a Live Activity may have.
    static let liveActivity = startOnly.union([.event, .timestamp, .contentState, .staleDate, .dismissalDate])

    /// Whether the keys of a Live Activity fit the event.
    var fitsEvent: Bool {
        if contains(.startEvent) {
            return isSuperset(of: .liveActivityStart) && !isSuperset(of: [.inputPushChannel, .inputPushToken])
                && !contains(.dismissalDate)
        }
        return isDisjoint(with: .startOnly) && (contains(.endEvent) || !contains(.dismissalDate))
    }

    /// The keys that the start of a Live Activity must have (Apple, "Starting and updating Live Activities with push").
    static let liveActivityStart: APSKeys = [.alert, .contentState, .attributesType, .attributes]
}
