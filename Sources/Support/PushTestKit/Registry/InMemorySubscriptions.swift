import Essentials
import PushCore

/// What an `InMemoryRegistry` knows of subscriptions to records and of users' topics.
struct InMemorySubscriptions {
    struct Topic: Hashable {
        var app: String
        var name: ByteText
    }

    struct Entry {
        var stored: StoredSubscription
        /// The number of the owning device's entry, so that a device of the same name that comes later is another.
        var deviceNumber: Int64?
        var firedFor: EventDigest?
    }

    /// By row.
    var entries: [Int64: Entry] = [:]
    var lastRow: Int64 = 0
    var topicUsers: [Topic: Set<ByteText>] = [:]
}
