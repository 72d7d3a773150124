import Messages

/// The effects of policies on a queue.
///
/// RabbitMQ combines a policy and the arguments of a queue by key (3.10.8 to 4.3.5): of `message-ttl`, `max-length`,
/// `expires` and `delivery-limit` the smaller counts, `overflow` of the policy wins, and `dead-letter-*` of the
/// arguments does. So the queue stays as it was declared, and behaves otherwise; declaring it again does not show it.
extension TopologyObject {
    /// The conflicts of a policy with this queue.
    ///
    /// - Parameters:
    ///   - policy: the policy in force.
    ///   - hasUnlimitedDeliveries: whether a negative `delivery-limit` means that there is none, as from RabbitMQ 4.0.
    /// - Returns: the settings that matter, in a fixed order, including those that lose nothing.
    func conflicts(with policy: EffectivePolicy, hasUnlimitedDeliveries: Bool) -> [PolicyConflict] {
        // A queue that may be full by its own arguments, that of a webhook, is limited as the operator likes.
        guard kind == .quorumQueue, deadLetters || argument("x-max-length") == nil else { return [] }
        return [
            overflow(policy), length("max-length", policy), length("max-length-bytes", policy), expiry(policy),
            timeToLive(policy), deliveryLimit(policy, hasUnlimitedDeliveries), delayedRetry(policy),
            consumerTimeout(policy),
        ].compactMap(\.self)
    }

    /// Whether RabbitMQ itself moves messages on from here: all queues but that of the dead letters.
    private var deadLetters: Bool { argument("x-dead-letter-strategy") != nil }

    private func overflow(_ policy: EffectivePolicy) -> PolicyConflict? {
        guard deadLetters, let overflow = policy.text("overflow"), overflow != "reject-publish" else { return nil }
        return PolicyConflict(
            "overflow = \(overflow)",
            "RabbitMQ dead-letters at most once then, so that a retry or a dead letter may be lost on its way",
            losesMessages: true)
    }

    private func length(_ key: String, _ policy: EffectivePolicy) -> PolicyConflict? {
        guard let length = policy.number(key) else { return nil }
        let rejects = policy.text("overflow").map { $0 == "reject-publish" } ?? deadLetters
        return PolicyConflict(
            "\(key) = \(length)",
            rejects
                ? "a full queue refuses publishes; they are tried again" : "a full queue drops the oldest",
            losesMessages: !rejects)
    }

    private func expiry(_ policy: EffectivePolicy) -> PolicyConflict? {
        policy.number("expires").map {
            PolicyConflict(
                "expires = \($0)",
                "RabbitMQ deletes the queue with its messages after so many milliseconds without a consumer",
                losesMessages: true)
        }
    }

    private func timeToLive(_ policy: EffectivePolicy) -> PolicyConflict? {
        guard let milliseconds = policy.number("message-ttl") else { return nil }
        let setting = "message-ttl = \(milliseconds)"
        if case .int64(let own)? = argument("x-message-ttl") {
            guard milliseconds < own else { return nil }
            return PolicyConflict(setting, "messages come back sooner than after \(own) ms", losesMessages: false)
        }
        return PolicyConflict(
            setting, deadLetters ? "events that wait longer become dead letters" : "dead letters vanish after that",
            losesMessages: !deadLetters)
    }

    private func deliveryLimit(_ policy: EffectivePolicy, _ hasUnlimitedDeliveries: Bool) -> PolicyConflict? {
        guard case .int64(let own)? = argument("x-delivery-limit"), let limit = policy.number("delivery-limit"),
            limit < own, limit >= 0 || !hasUnlimitedDeliveries
        else { return nil }
        guard limit >= 0 else {
            return PolicyConflict(
                "delivery-limit = \(limit)",
                deadLetters
                    ? "before RabbitMQ 4.0 a message becomes a dead letter when it is returned once"
                    : "before RabbitMQ 4.0 a dead letter vanishes when it is returned once",
                losesMessages: !deadLetters)
        }
        return PolicyConflict(
            "delivery-limit = \(limit)",
            deadLetters
                ? "what so many workers died with, or gave back, becomes a dead letter; \(own) is meant"
                : "a dead letter vanishes when it has been looked at so often",
            losesMessages: !deadLetters)
    }

    private func delayedRetry(_ policy: EffectivePolicy) -> PolicyConflict? {
        guard !deadLetters, let type = policy.text("delayed-retry-type"), type != "disabled" else { return nil }
        return PolicyConflict(
            "delayed-retry-type = \(type)", "dead letters cannot be seen for a while after each listing",
            losesMessages: false)
    }

    /// The longest time for which a worker holds a delivery, as a rule, in milliseconds.
    ///
    /// It waits until the pushes are answered, and retry copies and outcomes confirmed. RabbitMQ delivers again what a
    /// worker holds for longer than `consumer-timeout`.
    static let heldMillisecondsMaximum: Int64 = 300_000

    private func consumerTimeout(_ policy: EffectivePolicy) -> PolicyConflict? {
        // No process consumes a retry queue, and `apus dead-letters` settles each dead letter within moments.
        guard deadLetters, argument("x-message-ttl") == nil, let milliseconds = policy.number("consumer-timeout"),
            milliseconds < Self.heldMillisecondsMaximum
        else { return nil }
        return PolicyConflict(
            "consumer-timeout = \(milliseconds)",
            "what a worker holds for longer, while a push service is slow, is delivered and pushed again",
            losesMessages: false)
    }

    private func argument(_ name: String) -> HeaderValue? { arguments.first { $0.name == name }?.value }
}

/// A setting of a policy that changes the behaviour of one of our queues.
public struct PolicyConflict: Hashable, Sendable {
    /// The setting, for example `overflow = drop-head`.
    public let setting: String
    /// The effect of the setting on the queue.
    public let effect: String
    /// Whether messages can be lost by it.
    public let losesMessages: Bool

    init(_ setting: String, _ effect: String, losesMessages: Bool) {
        self.setting = setting
        self.effect = effect
        self.losesMessages = losesMessages
    }

    /// The setting and its effect.
    public var description: String { "\(setting): \(effect)" }
}
