/// What a ledger comes to, in the manner of RabbitMQ's Jepsen suite.
struct LedgerCounts: Sendable, Hashable {
    /// Events that were handed to the broker, whatever it said.
    var attempted = 0
    /// Events that the broker confirmed.
    var confirmed = 0
    /// Confirmed events of which every push was accepted, or said by a newer one.
    var delivered = 0
    /// Confirmed events that stand in a queue at the end and have not all been pushed.
    var parked = 0
    /// Of those that are parked, how many are taken to be the messages that cannot be read.
    var unread = 0
    /// Confirmed events that are dead letters and have not all been pushed; the broken ones have to be here.
    var deadLettered = 0
    /// Of the dead letters, those that are not broken.
    var soundDeadLettered = 0
    /// Confirmed events that a scenario destroyed by its own hand, together with the queue that held them.
    var destroyed = 0
    /// Confirmed events that are nowhere.
    var lost = 0
    /// Accepted pushes that no event asked for, or that went to a device that had not asked for them.
    var unexpected = 0
    /// Devices that are no longer registered, besides those that were gone from the start.
    var removed = 0
    /// Accepted pushes beyond the first of the same content to the same device.
    var duplicated = 0
    /// Pushes that were accepted, all in all.
    var pushes = 0
    /// The first few of what was lost or unexpected, for whoever looks for the reason.
    var details: [String] = []
}
