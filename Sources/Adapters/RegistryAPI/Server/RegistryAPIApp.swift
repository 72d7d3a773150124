/// An app as the API knows it.
public struct RegistryAPIApp: Hashable, Sendable {
    /// The name that devices bear.
    public var name: String
    /// The bundle identifier: CloudKit's container is `iCloud.` and this.
    public var bundleID: String
    /// The Cognito identity pools that are the app's.
    public var identityPoolIDs: [String]

    /// Creates an app.
    public init(name: String, bundleID: String, identityPoolIDs: [String] = []) {
        self.name = name
        self.bundleID = bundleID
        self.identityPoolIDs = identityPoolIDs
    }
}
