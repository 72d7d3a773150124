import PushCore

/// An event that a backend publishes.
struct LoadedEvent {
    /// Its number; it is also its sync count, and what its pushes show.
    var number: Int
    var subject: Subject
    /// Whom a list names.
    var listed: [Int] = []
    var message: Message
    /// How long it is of use from publishing on, in milliseconds; nil if for ever.
    var timeToLiveMilliseconds: Int64?
    /// Whether each of its pushes gets one attempt only.
    var isNowOrNever = false
}
