/// A push that the simulator accepted, as its record tells.
struct AcceptedPush: Sendable, Hashable {
    /// What the payload says that it is about.
    enum Content: Sendable, Hashable {
        /// The dataset of this identity has this sync count.
        case change(identity: String, syncCount: Int)
        /// The event with this number asked for it.
        case request(number: Int)
        /// Nothing that the load could have caused.
        case other
    }

    /// The device token's digits.
    let token: String
    /// What it is about.
    let content: Content
    /// When it was answered, in milliseconds since 1970.
    let timeMilliseconds: Int64
}
