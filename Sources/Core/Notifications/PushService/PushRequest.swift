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
