/// Which devices to list; the parts that are given must all hold.
public struct DeviceFilter: Hashable, Sendable {
    /// Only this app's devices.
    public var app: String?
    /// Only this identity's devices.
    public var identityID: String?
    /// Only this user's devices.
    public var userID: String?

    /// Creates a filter; without arguments it lets every device through.
    public init(app: String? = nil, identityID: String? = nil, userID: String? = nil) {
        self.app = app
        self.identityID = identityID
        self.userID = userID
    }
}
