/// A dataset of an identity, by the names that Cognito Sync gives it.
public struct Dataset: Hashable, Sendable {
    /// The identity pool, for example `us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c`.
    public var identityPoolID: String
    /// The identity: a region, a colon, and digits of 0-9, a-f and `-`.
    public var identityID: String
    /// The name: letters, digits and `_ . : -`, at most 128.
    public var name: String

    /// Names a dataset.
    ///
    /// - Parameters:
    ///   - identityPoolID: the identity pool.
    ///   - identityID: the identity.
    ///   - name: the name of the dataset.
    public init(identityPoolID: String, identityID: String, name: String) {
        self.identityPoolID = identityPoolID
        self.identityID = identityID
        self.name = name
    }

    func write(to data: inout EventWriter) {
        data.member("identityPoolId", identityPoolID)
        data.member("identityId", identityID)
        data.member("datasetName", name)
    }
}
