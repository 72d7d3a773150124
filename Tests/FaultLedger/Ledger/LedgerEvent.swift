/// An event of the load: what was published, and whom it is about.
struct LedgerEvent: Sendable, Hashable {
    /// The two kinds of event that the load is made of.
    enum Content: Sendable, Hashable {
        /// The dataset of an identity has changed; a push with a newer sync count says the same.
        case change(identity: Int, syncCount: Int)
        /// A push to these devices was asked for; it has to arrive as it is.
        case request(devices: [Int])
    }

    /// Its place in the load, from 0.
    let number: Int
    /// What it says.
    let content: Content

    /// The `id` of the event, which is also the message's.
    var identifier: String { "e\(number)" }
}
