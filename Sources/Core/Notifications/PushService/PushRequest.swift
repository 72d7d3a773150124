import Hashing

/// One push to one device, ready to be sent.
public struct PushRequest: Sendable {
    /// The sender's own number, given back with the result.
    public var identifier: UInt64
    /// Which pool of connections sends it: a number that the transport gave out at its start.
    public var route: Int
    /// The device.
    public var token: DeviceToken
    /// The header `apns-id`; the same for every attempt of the same push.
    public var apnsID: APNsIdentifier
    /// The payload and the shared headers.
    public var content: PushContent

    /// Creates a request.
    public init(
        identifier: UInt64, route: Int, token: DeviceToken, apnsID: APNsIdentifier, content: PushContent
    ) {
        self.identifier = identifier
        self.route = route
        self.token = token
        self.apnsID = apnsID
        self.content = content
    }
}

/// Derives the `apns-id` of a push from its event and its device, so that every attempt, by any worker, bears the same.
///
/// Two pushes share an identifier only by chance (2^-122). Someone who makes collisions on purpose would only confuse
/// that backend's own logs.
public struct PushIdentity: Hashable, Sendable {
    private var digest = WordDigest()

    /// Begins with the event: its source and its identifier.
    public init(source: String, identifier: String) {
        digest.mix(source)
        digest.mix(identifier)
    }

    /// The identifier of the event's push to this device: a UUID of version 8 (RFC 9562 §5.8).
    ///
    /// - Parameters:
    ///   - token: the device's.
    ///   - subscription: the row of the subscription that the push is of; 0 if it is of none.
    /// - Returns: the identifier.
    public func apnsID(for token: DeviceToken, subscription: Int64 = 0) -> APNsIdentifier {
        var state = digest
        token.bytes.withUnsafeBytes { state.mix($0) }
        if subscription != 0 { withUnsafeBytes(of: subscription.littleEndian) { state.mix($0) } }
        state.finish()
        return APNsIdentifier(digest: state)
    }
}
