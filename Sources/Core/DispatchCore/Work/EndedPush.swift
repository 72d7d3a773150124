public import Essentials
public import Notifications
public import RegistryCore

/// A push that has ended, as a backend is told of it.
public struct EndedPush: Sendable {
    /// The device.
    var recipient: Recipient
    /// The identifier of the subscription to records that it is for; nil if it is for none.
    var subscriptionID: String?
    /// The outcome of the push.
    var kind: OutcomeKind
    /// Why, as a word: a push service's or that of a retry or dead letter; empty for one that was accepted.
    var reason: String
    /// The `apns-id`, or what stands for it at other services; nil if the push was never sent.
    var apnsID: APNsIdentifier?
    /// How often it was sent in this attempt.
    var sends: Int
    /// When it ended.
    var ended: WallTime

    /// Describes a push that has ended.
    public init(
        recipient: Recipient, subscriptionID: String? = nil, kind: OutcomeKind, reason: String,
        apnsID: APNsIdentifier? = nil, sends: Int, ended: WallTime
    ) {
        self.recipient = recipient
        self.subscriptionID = subscriptionID
        self.kind = kind
        self.reason = reason
        self.apnsID = apnsID
        self.sends = sends
        self.ended = ended
    }
}
