/// A token that the push service will never deliver to again.
public struct DeadToken: Hashable, Sendable {
    /// The device that has it.
    public var deviceID: String
    /// The token; a device that has another one by now is left alone.
    public var token: DeviceToken
    /// Since when the service has known it, in milliseconds since 1970; nil if it did not say.
    ///
    /// A device that was registered at or after this moment is left alone.
    public var deadSinceMilliseconds: Int64?

    /// Creates a dead token.
    public init(deviceID: String, token: DeviceToken, deadSinceMilliseconds: Int64?) {
        self.deviceID = deviceID
        self.token = token
        self.deadSinceMilliseconds = deadSinceMilliseconds
    }
}
