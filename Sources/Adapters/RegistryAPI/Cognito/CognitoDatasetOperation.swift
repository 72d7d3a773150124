/// An operation of Cognito Sync that Apus has nothing to answer to, because it keeps no datasets.
///
/// It is answered with an error that the API's model (2014-06-30) has for it, so that a client raises an exception
/// which its caller can name: what is looked for is not there, and what is asked for cannot be done.
struct CognitoDatasetOperation {
    let name: String
    let method: String
    let path: String
    let error: CognitoError

    private init(_ name: String, _ method: String, _ path: String, _ error: (String) -> CognitoError) {
        self.name = name
        self.method = method
        self.path = path
        self.error = error(
            "\(name) is not supported: Apus keeps no datasets, it only tells devices that one has changed.")
    }

    /// All of them.
    static let all: [CognitoDatasetOperation] = {
        let pools = "/identitypools"
        let pool = "\(pools)/{IdentityPoolId}"
        let identity = "\(pool)/identities/{IdentityId}"
        let dataset = "\(identity)/datasets/{DatasetName}"
        return [
            CognitoDatasetOperation("BulkPublish", "POST", "\(pool)/bulkpublish", CognitoError.invalidParameter),
            CognitoDatasetOperation("DeleteDataset", "DELETE", dataset, CognitoError.notFound),
            CognitoDatasetOperation("DescribeDataset", "GET", dataset, CognitoError.notFound),
            CognitoDatasetOperation("DescribeIdentityPoolUsage", "GET", pool, CognitoError.notFound),
            CognitoDatasetOperation("DescribeIdentityUsage", "GET", identity, CognitoError.notFound),
            CognitoDatasetOperation(
                "GetBulkPublishDetails", "POST", "\(pool)/getBulkPublishDetails", CognitoError.notFound),
            CognitoDatasetOperation("GetCognitoEvents", "GET", "\(pool)/events", CognitoError.notFound),
            CognitoDatasetOperation("ListDatasets", "GET", "\(identity)/datasets", CognitoError.invalidParameter),
            CognitoDatasetOperation("ListIdentityPoolUsage", "GET", pools, CognitoError.invalidParameter),
            CognitoDatasetOperation("ListRecords", "GET", "\(dataset)/records", CognitoError.invalidParameter),
            CognitoDatasetOperation("SetCognitoEvents", "POST", "\(pool)/events", CognitoError.invalidParameter),
            CognitoDatasetOperation("UpdateRecords", "POST", dataset, CognitoError.invalidParameter),
        ]
    }()
}
