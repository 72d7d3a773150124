public import PushServiceSimulator

/// Something that happened to a message: an answer to a push, or the end of a message that had waited.
public struct RecordedWebPush: AnswerRecord, Equatable {
    /// A kind of record.
    public enum Kind: String, Sendable {
        /// A push was answered.
        case push
        /// A message that had waited reached its browser.
        case delivery
        /// A message that had waited gave its place to one with the same topic.
        case replaced
        /// The time of a message that had waited has passed.
        case expired
    }

    /// The fate of an accepted message.
    public enum Fate: String, Sendable {
        /// It reached its browser at once.
        case delivered
        /// It waits for its browser.
        case stored
        /// Its browser was offline, and it had no time to wait.
        case dropped
        /// Its browser could not decrypt it.
        case unreadable
    }

    /// The kind of record.
    public var kind = Kind.push
    /// When, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The name of the origin.
    public var origin: String
    /// The name of the subscription; empty if the endpoint is unknown.
    public var subscription: String
    /// The name of the message's resource; nil if it was refused.
    public var messageID: String?
    /// The status of the answer.
    public var status = 201
    /// The name of the refusal; nil if the message was accepted.
    public var reason: String?
    /// The fate of the message; nil if it was refused, or for other kinds than `push`.
    public var fate: Fate?
    /// Whether the same event, or without one the same plaintext, had been accepted for the subscription before.
    public var isDuplicate = false
    /// Whether it reaches its browser later, because FCM passes on only so many messages with a topic.
    public var isDelayed = false
    /// Whether the salt or the sender's key had been used before.
    public var isReused = false
    /// The header `ttl` in seconds; nil if there was none that is valid.
    public var ttlSeconds: Int64?
    /// The header `urgency`, `normal` if there was none.
    public var urgency: String?
    /// The header `topic`.
    public var topic: String?
    /// The identifier of the event in the plaintext, if the configuration says where it stands.
    public var event: String?
    /// The decrypted content; nil if there was none, or none that could be read.
    public var plaintext: [UInt8]?
}
