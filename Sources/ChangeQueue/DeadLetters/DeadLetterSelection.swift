/// Which dead letters are meant.
public struct DeadLetterSelection: Hashable, Sendable {
    /// Only those with this reason; nil for all reasons.
    public var reason: String?
    /// Only those with this message identifier; nil for all.
    public var messageID: String?
    /// Only the one at this place in the queue, counting from 1; nil for all.
    public var position: Int?
    /// At most so many; nil for all.
    public var limit: Int?

    /// Creates a selection.
    public init(reason: String? = nil, messageID: String? = nil, position: Int? = nil, limit: Int? = nil) {
        self.reason = reason
        self.messageID = messageID
        self.position = position
        self.limit = limit
    }

    /// Whether every letter is meant.
    var isEverything: Bool { self == DeadLetterSelection() }

    func includes(_ letter: DeadLetter) -> Bool {
        (reason == nil || letter.reason == reason) && (messageID == nil || letter.messageID == messageID)
            && (position == nil || letter.position == position)
    }
}
