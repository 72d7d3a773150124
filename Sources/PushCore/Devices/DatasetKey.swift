/// Names one Cognito dataset: a pool, an identity in it, and the dataset's name.
public struct DatasetKey: Hashable, Sendable {
    /// The identity pool, for example `us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c`.
    public var identityPoolID: String
    /// The identity.
    public var identityID: String
    /// The dataset, 1 to 128 bytes of `[a-zA-Z0-9_.:-]`.
    public var datasetName: String

    /// Creates a key.
    public init(identityPoolID: String, identityID: String, datasetName: String) {
        self.identityPoolID = identityPoolID
        self.identityID = identityID
        self.datasetName = datasetName
    }
}
