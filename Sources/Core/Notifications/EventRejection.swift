/// Why a message is not an event that Apus can act on: it goes to the dead letters with this.
public struct EventRejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// The machine-readable reasons, as they stand in the header `apus-reason` of a dead letter.
    public enum Reason: String, CaseIterable, Sendable {
        /// The body is larger than `EventLimits.bodyBytesMaximum`.
        case bodyTooLarge = "body-too-large"
        /// The body is not valid UTF-8.
        case invalidUTF8 = "invalid-utf8"
        /// The body is not valid JSON.
        case invalidJSON = "invalid-json"
        /// The JSON is nested more deeply than `EventLimits.depthMaximum`.
        case tooDeep = "too-deep"
        /// A field that the type needs is not there.
        case missingField = "missing-field"
        /// A field has the wrong type or an impossible value.
        case invalidField = "invalid-field"
        /// A field is none that the type has; most likely it is misspelt.
        case unknownField = "unknown-field"
        /// The type is none that Apus knows.
        case unknownType = "unknown-type"
        /// The content type is none of the three encodings.
        case unknownEncoding = "unknown-encoding"
        /// No app of that name, or for that identity pool, is configured.
        case unknownApp = "unknown-app"
        /// The notification breaks a rule of APNs that can be seen before sending, for example its size.
        case invalidNotification = "invalid-notification"
        /// The target has no token of the kind that the push type goes to.
        case noToken = "no-token"
        /// No source of the configuration names the table whose row changed.
        case unknownTable = "unknown-table"
        /// The message tells nothing that devices are to hear of, such as a row of a snapshot: it is acknowledged, and
        /// becomes no dead letter.
        case skipped
    }

    /// The machine-readable reason.
    public let reason: Reason
    /// The problem, its location and the expected value.
    public let message: String

    /// Creates a rejection.
    public init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The reason and the message.
    public var description: String { "\(reason.rawValue): \(message)" }
}
