/// How often a simulator gave one answer.
public struct AnswerCount: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The reason, as the push service words it, or the name of the refusal; nil if the push was accepted.
    public var reason: String?
    /// How many requests were answered so.
    public var count: Int

    /// Counts an answer.
    public init(status: Int, reason: String?, count: Int) {
        self.status = status
        self.reason = reason
        self.count = count
    }
}

extension [AnswerCount] {
    /// Adds what another loop or origin gave; the most frequent answers come first.
    public mutating func add(_ others: [AnswerCount]) {
        for other in others {
            if let index = firstIndex(where: { $0.status == other.status && $0.reason == other.reason }) {
                self[index].count += other.count
            } else {
                append(other)
            }
        }
        sort { ($1.count, $0.status, $0.reason ?? "") < ($0.count, $1.status, $1.reason ?? "") }
    }
}
