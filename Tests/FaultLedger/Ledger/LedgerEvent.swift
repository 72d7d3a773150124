/// An event of the load: what was published, and whom it is about.
struct LedgerEvent: Sendable, Hashable {
    /// The kinds of event that the load is made of.
    enum Content: Sendable, Hashable {
        /// The dataset of an identity has changed; a push with a newer sync count says the same.
        case change(identity: Int, syncCount: Int)
        /// A push to these devices was asked for; it has to arrive as it is.
        case request(devices: [Int])
        /// A record was created that the user of a room has subscribed to, by a predicate.
        case record(room: Int)
        /// A push to all devices of the crowd was asked for, which is more than a worker takes at once.
        case announcement
        /// Nobody can act on it: it has to become a dead letter.
        case broken
    }

    /// Its place in the load, from 0.
    let number: Int
    /// What it says.
    let content: Content

    /// Whether its pushes bear its number, so that each of them has to arrive.
    var isPushedByNumber: Bool {
        switch content {
        case .change, .broken: false
        case .request, .record, .announcement: true
        }
    }

    /// The `id` of the event, which is also the message's.
    var identifier: String { "e\(number)" }
}
