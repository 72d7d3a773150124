/// What became of events and pushes in a run.
public struct BooksCounts: Hashable, Sendable {
    /// Events that were published and confirmed.
    public internal(set) var events = 0
    /// Events that have ended.
    public internal(set) var eventsEnded = 0
    /// Pushes that events asked for when they were published.
    public internal(set) var expected = 0
    /// Pushes that the push service took.
    public internal(set) var accepted = 0
    /// Those among them that it had taken before.
    public internal(set) var duplicates = 0
    /// Pushes that a newer change of the dataset stands for.
    public internal(set) var coalesced = 0
    /// Pushes whose time had passed.
    public internal(set) var expired = 0
    /// Pushes to devices that left, or that cannot be reached.
    public internal(set) var gone = 0
    /// Pushes that ended with an answer other than acceptance, or as a dead letter.
    public internal(set) var refused = 0
    /// Pushes of subscriptions that another event has fired.
    public internal(set) var claimed = 0
    /// Messages that became dead letters, by Apus or by the broker.
    public internal(set) var deadLetters = 0
    /// Devices that a worker removed because their token was dead.
    public internal(set) var pruned = 0
}
