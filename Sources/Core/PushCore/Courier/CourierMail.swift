/// What there is for a client that asks for its notifications.
public enum CourierMail: Hashable, Sendable {
    /// There is no device with such a token.
    case unknown
    /// Nothing waits.
    case nothing
    /// The payload of the oldest message, which waits no more.
    case payload([UInt8])
}
