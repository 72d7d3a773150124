/// The names of the headers that Apus adds to a message when it parks it: in a retry queue, in the fan-out queue or
/// among the dead letters.
///
/// The body and the publisher's own headers stay as they came, so a parked message can be read, replayed or handed to
/// another consumer. The prefix is Apus' own: headers with it count only where `Message.isOwnCopy(publishedTo:)` says
/// that Apus wrote them, and are left out of copies elsewhere.
public enum ParkingHeader {
    /// How all of them begin.
    public static let prefix = "apus-"
    /// How many attempts the pushes of this message have had (int64).
    public static let attempt = "apus-attempt"
    /// When Apus first received the event, in milliseconds since 1970 (int64).
    public static let firstSeenMilliseconds = "apus-first-seen-ms"
    /// From when its age and its time to live count, in milliseconds since 1970 (int64); absent if from
    /// `firstSeenMilliseconds`.
    public static let publishedMilliseconds = "apus-published-ms"
    /// How long it was parked because the push service could not be reached, in milliseconds (int64).
    public static let heldMilliseconds = "apus-held-ms"
    /// Why it was parked last: one of a small set of words (string).
    public static let reason = "apus-reason"
    /// The reason in a sentence that a person can act on (string).
    public static let detail = "apus-detail"
    /// Of a dead letter, when it became one, in milliseconds since 1970 (int64).
    public static let deadLetteredMilliseconds = "apus-dead-lettered-ms"
    /// Of a dead letter, the app whose pushes failed (string).
    public static let app = "apus-app"
    /// The devices that are still to be served, by identifier (array of strings).
    public static let devices = "apus-devices"
    /// Where the rest of a large fan-out begins (int64).
    public static let cursor = "apus-cursor"
    /// The subscription at which the rest of a large fan-out begins (int64).
    public static let cursorSubscription = "apus-cursor-subscription"
    /// The number of the large fan-out that a chunk is of (int64); `cursor` says where the chunk begins.
    public static let fanOut = "apus-fanout"
    /// The number of the chunk (int64).
    public static let chunk = "apus-fanout-chunk"
    /// How many devices the chunk had when it was planned (int64).
    public static let chunkDevices = "apus-fanout-chunk-devices"
    /// The last position of the chunk (int64); absent in the last chunk.
    public static let through = "apus-fanout-through"
    /// The subscription of the last position (int64).
    public static let throughSubscription = "apus-fanout-through-subscription"
    /// The subscriptions that have devices in the chunk or cover some of them, 8 bytes each, big endian (byte array).
    public static let subscriptions = "apus-fanout-subscriptions"
    /// How often a part of a large fan-out went from a work queue to the fan-out queue since it was last served or
    /// deferred (int64).
    public static let hops = "apus-hops"
    /// Whether the device that made the change is notified as well, because others made changes that this event stands
    /// for (boolean).
    public static let notifiesOrigin = "apus-notifies-origin"
    /// When the event loses its use, in milliseconds since 1970 (int64).
    public static let expiresAtMilliseconds = "apus-expires-at-ms"
    /// The exchange that the event was published to (string).
    public static let originalExchange = "apus-original-exchange"
    /// The routing key that the event was published with (string).
    public static let originalRoutingKey = "apus-original-routing-key"
    /// Says that a header of the message lay too deep in others to be read, and came without its value (boolean).
    ///
    /// It is never published: the adapter of the broker adds it.
    public static let unreadableHeaders = "apus-headers-unreadable"
    /// The headers that a replay leaves out, because it begins anew: all but those of the devices still to be served.
    public static let ofAttempts: Set<String> = [
        attempt, firstSeenMilliseconds, publishedMilliseconds, heldMilliseconds, reason, detail, expiresAtMilliseconds,
        deadLetteredMilliseconds, app, hops, unreadableHeaders,
    ]
}
