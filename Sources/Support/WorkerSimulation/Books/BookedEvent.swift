/// What the books know of one event.
struct BookedEvent {
    /// One push that the event asks for.
    struct Expected {
        enum State: UInt8 {
            /// The push has not ended.
            case pending
            /// The push service took it.
            case accepted
            /// It ended in another way: a dead token, a dead letter.
            case ended
            /// It need not be, but may.
            case optional
        }

        var device: Int32
        /// The row of the subscription that it is for; 0 if it is for none.
        var subscription: Int32 = 0
        var state = State.pending
        var acceptedCount: UInt8 = 0
        /// How often it is out, with workers that live.
        var outCount: UInt16 = 0
    }

    var subject: Subject
    var publishedNanoseconds: UInt64
    /// When it loses its use, in milliseconds since 1970; nil if never.
    var expiresAtMilliseconds: Int64?
    var isNowOrNever: Bool
    /// In ascending order of devices as long as nothing was appended.
    var expected: [Expected]
    /// How many messages of it the broker has, those that were handed out included.
    var messageCount = 0
    /// Whether it was found to have ended, at least once.
    var hasEnded = false
    /// How many devices it had when it was published: how `expected` is sorted.
    var sortedCount: Int
    /// Whether a copy of it has waited in a retry queue.
    var hasWaited = false
}
