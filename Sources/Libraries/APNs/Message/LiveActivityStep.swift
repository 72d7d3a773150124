public import FoundationEssentials

/// What a push does to a Live Activity.
///
/// `timestamp` orders the pushes: the system ignores one that is older than the last. Payloads hold whole seconds.
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
public enum LiveActivityStep: Sendable {
    /// Starts an activity; the message must have an alert as well. Send it to a push-to-start token.
    ///
    /// `attributesType` is the name of the app's type of attributes.
    case start(
        attributesType: String, attributes: any Encodable & Sendable, contentState: any Encodable & Sendable,
        timestamp: Date, staleDate: Date? = nil)
    /// Shows a new state.
    case update(contentState: any Encodable & Sendable, timestamp: Date, staleDate: Date? = nil)
    /// Ends the activity, with a last state if there is one; it disappears at `dismissalDate`, or after up to four
    /// hours.
    case end(contentState: (any Encodable & Sendable)? = nil, timestamp: Date, dismissalDate: Date? = nil)
}
