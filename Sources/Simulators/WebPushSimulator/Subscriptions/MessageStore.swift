/// A message that waits until its browser is online.
struct StoredMessage: Equatable {
    /// The name of its resource.
    var id: String
    /// The header `topic`; nil for none.
    var topic: String?
    /// When it is thrown away, in milliseconds since 1970.
    var expiresAtMilliseconds: Int64
    /// The decrypted content.
    var plaintext: [UInt8]
}

/// The messages for browsers that are offline (RFC 8030 §5.2, §5.4): a pure state machine, whose time is an argument.
struct MessageStore {
    /// The fate of a new message for a browser that is offline.
    enum Admission: Equatable {
        /// It waits; the message of the same topic before it is gone.
        case stored(replaced: StoredMessage?)
        /// It had no time to wait, or there is no room.
        case dropped
    }

    /// How many messages wait at once; further ones are dropped.
    static let messagesMaximum = 1_000_000

    private var messages: [Int: [StoredMessage]] = [:]
    private(set) var count = 0
    private var offline: [(beginning: String, isOffline: Bool)] = []

    /// The subscriptions that have messages.
    var indices: [Int] { messages.keys.sorted() }

    /// Whether a browser is offline: what was said last of a beginning of its name counts.
    func isOffline(_ id: String) -> Bool { offline.last { id.hasPrefix($0.beginning) }?.isOffline ?? false }

    /// Says whether the browsers are offline whose names begin so.
    mutating func set(_ beginning: String, isOffline: Bool) {
        // This setting replaces earlier ones for longer or equal beginnings.
        offline.removeAll { $0.beginning.hasPrefix(beginning) }
        offline.append((beginning, isOffline))
    }

    /// Takes a message for a browser that is offline.
    mutating func admit(_ message: StoredMessage, for index: Int, nowMilliseconds now: Int64) -> Admission {
        guard message.expiresAtMilliseconds > now else { return .dropped }
        var waiting = messages[index] ?? []
        var replaced: StoredMessage?
        if let topic = message.topic, let older = waiting.firstIndex(where: { $0.topic == topic }) {
            replaced = waiting.remove(at: older)
            count -= 1
        }
        guard count < Self.messagesMaximum else {
            messages[index] = waiting
            return .dropped
        }
        waiting.append(message)
        messages[index] = waiting
        count += 1
        return .stored(replaced: replaced)
    }

    /// Takes the messages of a browser that is online again, oldest first, and those whose time has passed.
    mutating func take(
        _ index: Int, nowMilliseconds now: Int64
    ) -> (delivered: [StoredMessage], expired: [StoredMessage]) {
        let waiting = messages.removeValue(forKey: index) ?? []
        count -= waiting.count
        return (
            waiting.filter { $0.expiresAtMilliseconds > now }, waiting.filter { $0.expiresAtMilliseconds <= now }
        )
    }
}
