public import Notifications

/// A notification for a client that fetches its notifications, as it waits to be fetched.
public struct CourierMessage: Hashable, Sendable {
    /// The token of the client's device.
    public var token: DeviceToken
    /// The app that the device belongs to.
    public var app: String
    /// What tells the push from all others; a push that waits already does not wait twice.
    public var pushID: APNsIdentifier
    /// It takes the place of a message of the same device with the same identifier; nil if it takes no place.
    public var collapseID: String?
    /// Until when it may be fetched, in milliseconds since 1970.
    public var expiresAtMilliseconds: Int64
    /// The JSON payload.
    public var payload: [UInt8]

    /// Creates a message.
    public init(
        token: DeviceToken, app: String, pushID: APNsIdentifier, collapseID: String? = nil,
        expiresAtMilliseconds: Int64, payload: [UInt8]
    ) {
        self.token = token
        self.app = app
        self.pushID = pushID
        self.collapseID = collapseID
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.payload = payload
    }
}
