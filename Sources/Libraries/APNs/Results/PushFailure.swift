/// A push that got no answer; always temporary.
public enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// APNs certainly has not seen it: sending it again cannot make a duplicate. With the reason.
    case notProcessed(String)
    /// Nobody knows whether APNs has it: the answer did not come in time, or the connection was lost. Sending the same
    /// message again may make a duplicate, which bears the same `apns-id`, and replaces the first if the message has a
    /// collapse identifier. With the reason.
    case ambiguous(String)

    /// The reason.
    public var description: String {
        switch self {
        case .notProcessed(let reason): "not processed: \(reason)"
        case .ambiguous(let reason): "perhaps processed: \(reason)"
        }
    }
}
