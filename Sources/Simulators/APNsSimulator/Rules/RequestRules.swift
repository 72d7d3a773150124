import Essentials
import Notifications
import PushServiceSimulator

/// Decides what APNs would say to a request, by the documented rules for its headers and its payload.
///
/// Apple documents the reasons ("Handling notification responses from APNs") but not the order in which it looks for
/// them. The order here is from the outside in, like that of real servers: the request line, the form of the headers,
/// the sender, the topic, the token, and only then the payload. A request with two faults is answered with the first of
/// them.
///
/// Where Apple leaves room, the stricter reading is taken: a client that passes here also passes there.
struct RequestRules: Sendable {
    /// The longest value of `apns-collapse-id`, in bytes (Apple, "Sending notification requests to APNs").
    static let collapseIdentifierBytesMaximum = 64
    /// How many bytes of a payload are kept: one more than the largest limit of Apple's.
    static let bodyBytesKeptMaximum = 5_121

    private let bundleIdentifiers: [[UInt8]]

    /// Creates rules that allow the topics of some apps.
    ///
    /// - Parameter bundleIdentifiers: the apps that the keys may push to; none means any.
    init(bundleIdentifiers: [String]) {
        self.bundleIdentifiers = bundleIdentifiers.map { Array($0.utf8) }
    }

    /// Judges one request.
    ///
    /// - Parameters:
    ///   - fields: its headers.
    ///   - payload: its payload, as far as it was kept.
    ///   - length: how long the payload is.
    ///   - authenticate: judges the provider token; called when its turn in the order comes, so at most once.
    /// - Returns: why the request is refused, or nil if nothing speaks against it.
    func rejection(
        fields: RequestFields, payload: [UInt8], length: Int, authenticate: () -> Rejection?
    ) -> Rejection? {
        if let rejection = Self.requestLineRejection(fields) { return rejection }
        if fields.hasDuplicates { return .duplicateHeaders }
        if fields[.identifier] != nil, fields.identifier == nil { return .badMessageID }
        if let rejection = authenticate() { return rejection }
        if let expiration = fields[.expiration], !Self.isExpiration(expiration) { return .badExpirationDate }
        var rule = PushTypeRule.unnamed
        if let name = fields[.pushType] {
            guard let type = PushTypeRule.type(named: name) else { return .invalidPushType }
            rule = .rule(for: type)
        }
        if let rejection = Self.priorityRejection(fields[.priority], rule: rule) { return rejection }
        if let collapse = fields[.collapseIdentifier], !Self.isCollapseIdentifier(collapse) { return .badCollapseID }
        if let rejection = topicRejection(fields[.topic], rule: rule) { return rejection }
        guard let digits = fields.deviceTokenDigits, Self.isDeviceToken(digits) else { return .badDeviceToken }
        return Self.payloadRejection(payload, length: length, rule: rule)
    }

    private static func requestLineRejection(_ fields: RequestFields) -> Rejection? {
        guard let method = fields[.method], method.matches("POST") else { return .methodNotAllowed }
        if let digits = fields.deviceTokenDigits { return digits.isEmpty ? .missingDeviceToken : nil }
        if let path = fields[.path], path.matches("/3/device") { return .missingDeviceToken }
        return .badPath
    }

    /// Whole seconds since 1970; 0 means not to store the push.
    private static func isExpiration(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        !value.isEmpty && value.count <= 18 && value.allSatisfy { (48...57).contains($0) }
    }

    /// Without the header the priority is 10, which is why a background push cannot leave it out.
    private static func priorityRejection(_ value: UnsafeBufferPointer<UInt8>?, rule: PushTypeRule) -> Rejection? {
        let priority: PushPriority
        switch value {
        case .none: priority = .immediate
        case .some(let value) where value.matches("10"): priority = .immediate
        case .some(let value) where value.matches("5"): priority = .conserving
        case .some(let value) where value.matches("1"): priority = .passive
        case .some: return .badPriority
        }
        return rule.priorities.contains(priority) ? nil : .badPriority
    }

    private static func isCollapseIdentifier(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        !value.isEmpty && value.count <= collapseIdentifierBytesMaximum
    }

    private func topicRejection(_ value: UnsafeBufferPointer<UInt8>?, rule: PushTypeRule) -> Rejection? {
        guard let topic = value, !topic.isEmpty else { return .missingTopic }
        guard topic.allSatisfy(Self.isTopicByte) else { return .badTopic }
        guard !bundleIdentifiers.isEmpty else { return topic.hasSuffix(rule.topicSuffix) ? nil : .badTopic }
        for bundle in bundleIdentifiers where topic.begins(with: bundle) {
            let suffix = UnsafeBufferPointer(rebasing: topic[bundle.count...])
            if suffix.matches(rule.topicSuffix) { return nil }
            // Without a push type any app's topic will do; with one, the suffix of another type will not.
            if PushTypeRule.isTopicSuffix(suffix) { return rule.allowsAnyTopicSuffix ? nil : .badTopic }
        }
        return .topicDisallowed
    }

    /// The kind of token that a topic is for.
    static func kind(ofTopic topic: UnsafeBufferPointer<UInt8>?) -> TokenKind {
        suffixes.first { topic?.hasSuffix($0.suffix) ?? false }?.kind ?? .alert
    }

    private static let suffixes = TokenKind.further.map { (kind: $0, suffix: Array($0.topicSuffix.utf8)) }

    /// Letters, digits, hyphens and periods, as in a bundle identifier.
    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 45, 46, 48...57, 65...90, 97...122: true
        default: false
        }
    }

    private static func isDeviceToken(_ digits: UnsafeBufferPointer<UInt8>) -> Bool {
        digits.count % 2 == 0 && digits.count <= 2 * DeviceToken.bytesMaximum
            && digits.allSatisfy { HexadecimalDigits.value(of: $0) != nil }
    }

    /// Apple names no reason of its own for a body that is no JSON object: it carries no payload that could be read.
    private static func payloadRejection(_ payload: [UInt8], length: Int, rule: PushTypeRule) -> Rejection? {
        guard length > 0 else { return .payloadEmpty }
        guard length <= rule.payloadBytesMaximum else { return .payloadTooLarge }
        guard let keys = PushPayload.keys(in: payload) else { return .payloadEmpty }
        guard keys.isSuperset(of: rule.requiresAll), keys.isDisjoint(with: rule.forbids),
            rule.requiresAny.isEmpty || !keys.isDisjoint(with: rule.requiresAny)
        else { return .invalidPushType }
        return keys.contains(.event) && !keys.fitsEvent ? .invalidPushType : nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the topic is something with the suffix of a push type.
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count > suffix.count && UnsafeBufferPointer(rebasing: self[(count - suffix.count)...]).matches(suffix)
    }
}
