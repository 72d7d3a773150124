/// What a push does to a Live Activity.
///
/// `timestampSeconds` orders the pushes: the system ignores one that is older than the last. All times are in seconds
/// since 1970. Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
public enum LiveActivityStep: Sendable {
    /// Starts an activity; the message must have an alert as well. Send it to a push-to-start token.
    ///
    /// `attributesType` is the name of the app's type of attributes.
    case start(
        attributesType: String, attributes: any Encodable & Sendable, contentState: any Encodable & Sendable,
        timestampSeconds: Int64, staleDateSeconds: Int64? = nil)
    /// Shows a new state.
    case update(
        contentState: any Encodable & Sendable, timestampSeconds: Int64, staleDateSeconds: Int64? = nil)
    /// Ends the activity, with a last state if there is one; it disappears at `dismissalDateSeconds`, or after up to
    /// four hours.
    case end(
        contentState: (any Encodable & Sendable)? = nil, timestampSeconds: Int64, dismissalDateSeconds: Int64? = nil)
}
