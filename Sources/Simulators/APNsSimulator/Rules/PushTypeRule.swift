import Notifications
import PushServiceSimulator

/// The requirements of a push type for the other headers and the payload.
///
/// Source of topics and priorities: Apple, "Sending notification requests to APNs". Apple documents that the push type
/// must match the payload, but not the answer to each mismatch. Here a mismatch is always `InvalidPushType`, because a
/// lenient simulator would hide a push that Apple would delay or drop.
struct PushTypeRule {
    /// The suffix of the topic after the bundle identifier.
    let topicSuffix: [UInt8]
    /// Whether the suffix of any push type will do.
    let allowsAnyTopicSuffix: Bool
    /// The values of `apns-priority` that are allowed.
    let priorities: [PushPriority]
    /// The longest payload, in bytes.
    let payloadBytesMaximum: Int
    /// The keys of `aps` of which at least one must be there; empty for any payload.
    let requiresAny: APSKeys
    /// The keys of `aps` that must all be there.
    let requiresAll: APSKeys
    /// The keys of `aps` that must not be there.
    let forbids: APSKeys

    private init(
        topicSuffix: StaticString = "", priorities: [PushPriority] = PushPriority.allCases,
        payloadBytesMaximum: Int = 4_096, requiresAny: APSKeys = [], requiresAll: APSKeys = [], forbids: APSKeys = [],
        allowsAnyTopicSuffix: Bool = false
    ) {
        self.topicSuffix = topicSuffix.withUTF8Buffer { Array($0) }
        self.allowsAnyTopicSuffix = allowsAnyTopicSuffix
        self.priorities = priorities
        self.payloadBytesMaximum = payloadBytesMaximum
        self.requiresAny = requiresAny
        self.requiresAll = requiresAll
        self.forbids = forbids
    }

    /// The rule for a request without `apns-push-type`, which Apple still takes: nothing but the size is checked.
    static let unnamed = PushTypeRule(allowsAnyTopicSuffix: true)

    /// The rule of a push type.
    static func rule(for type: PushType) -> PushTypeRule { rules[type] ?? unnamed }

    /// Finds a push type by the value of `apns-push-type`, or nil for an unknown one.
    static func type(named name: UnsafeBufferPointer<UInt8>) -> PushType? {
        names.first { name.matches($0.name) }?.type
    }

    private static let names = PushType.allCases.map { (name: Array($0.rawValue.utf8), type: $0) }

    /// Whether some push type has this suffix.
    static func isTopicSuffix(_ suffix: UnsafeBufferPointer<UInt8>) -> Bool {
        rules.values.contains { suffix.matches($0.topicSuffix) }
    }

    private static let shown: APSKeys = [.alert, .badge, .sound]
    private static let reload = shown.union(.contentAvailable).union(.liveActivity)
    private static let others = APSKeys.liveActivity.union(.contentChanged)

    private static let rules: [PushType: PushTypeRule] = [
        .alert: PushTypeRule(requiresAny: shown, forbids: others),
        .background: PushTypeRule(
            priorities: [.conserving], requiresAll: [.contentAvailable], forbids: shown.union(others)),
        .complication: PushTypeRule(topicSuffix: ".complication", forbids: others),
        .controls: PushTypeRule(
            topicSuffix: ".push-type.controls", requiresAll: [.contentChanged], forbids: reload),
        .fileprovider: PushTypeRule(topicSuffix: ".pushkit.fileprovider", forbids: others),
        .liveactivity: PushTypeRule(
            topicSuffix: ".push-type.liveactivity", priorities: [.immediate, .conserving],
            requiresAll: [.event, .timestamp], forbids: .contentChanged),
        .location: PushTypeRule(
            topicSuffix: ".location-query", priorities: [.immediate, .conserving], forbids: others),
        .mdm: PushTypeRule(forbids: others),
        .pushtotalk: PushTypeRule(topicSuffix: ".voip-ptt", forbids: others),
        .voip: PushTypeRule(topicSuffix: ".voip", payloadBytesMaximum: 5_120, forbids: others),
        .widgets: PushTypeRule(
            topicSuffix: ".push-type.widgets", requiresAll: [.contentChanged], forbids: reload),
    ]
}
