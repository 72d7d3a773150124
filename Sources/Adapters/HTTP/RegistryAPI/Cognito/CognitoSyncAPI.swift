import Essentials
import HTTPServer

/// Amazon Cognito Sync's REST API (2014-06-30), as much of it as push needs.
///
/// A request is signed with an access key of the configuration (Signature Version 4). A pool that no app has does not
/// exist.
///
/// The operations on datasets, which Apus does not keep, are answered with an error that the API's model has for them.
/// Datasets may be called `.` and `..`, as the model allows: clients sign a path without such segments and send it with
/// them; the routes distinguish the two. A client that sends the path without them, as browsers do, reaches no route.
struct CognitoSyncAPI: ClientAPI {
    let firstSegments = ["identitypools"]
    private let verifier: SignatureVerifier
    private let credentials: CredentialGuard
    private let appByPool: [ByteText: String]
    private let nowMilliseconds: @Sendable () -> Int64

    init(
        configuration: RegistryServerConfiguration, credentials: CredentialGuard,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        verifier = SignatureVerifier(service: "cognito-sync", keys: configuration.accessKeys)
        self.credentials = credentials
        self.nowMilliseconds = nowMilliseconds
        appByPool = Dictionary(
            configuration.apps.flatMap { app in app.identityPoolIDs.map { (ByteText($0), app.name) } },
            uniquingKeysWith: { first, _ in first })
    }

    var routes: [Route] {
        let pool = "/identitypools/{IdentityPoolId}"
        let subscription = "\(pool)/identities/{IdentityId}/datasets/{DatasetName}/subscriptions/{DeviceId}"
        return [
            route("RegisterDevice", "POST", "\(pool)/identity/{IdentityId}/device") {
                call, context throws(CognitoError) in
                try call.registerDevice(context)
            },
            route("SubscribeToDataset", "POST", subscription) { call, context throws(CognitoError) in
                try call.subscribe(context)
            },
            route("UnsubscribeFromDataset", "DELETE", subscription) { call, context throws(CognitoError) in
                try call.unsubscribe(context)
            },
            route("GetIdentityPoolConfiguration", "GET", "\(pool)/configuration") {
                call, context throws(CognitoError) in
                try call.configuration(context)
            },
            route(
                "SetIdentityPoolConfiguration", "POST", "\(pool)/configuration",
                bodyBytesMaximum: Route.mediumBodyBytes
            ) {
                call, context throws(CognitoError) in
                try call.setConfiguration(context)
            },
        ] + CognitoDatasetOperation.all.map(route)
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        CognitoError.ofStatus(status, message).response(retryAfterSeconds: retryAfterSeconds)
    }

    /// A signature covers the body, so that of it only the name of its key counts.
    func admitBody(of request: HTTPRequest) -> BodyAdmission {
        do throws(SignatureRefusal) {
            if try verifier.hasKey(of: request) { return .allowed }
            _ = try verifier.verify(request, nowSeconds: nowMilliseconds() / 1_000)
            return .allowed
        } catch {
            return .refused(refusal(of: request, error))
        }
    }

    func admitStray(_ request: HTTPRequest, _ refusal: HTTPResponse) -> Admission {
        admit(request) { _ throws(CognitoError) in { _ in refusal } }
    }

    private func route(_ operation: CognitoDatasetOperation) -> Route {
        // Long bodies are allowed here, because the answer is that of the operation all the same.
        Route(operation.name, operation.method, operation.path, bodyBytesMaximum: Route.largeBodyBytes) {
            request, values in
            admit(request) { key throws(CognitoError) in
                if values.values["IdentityPoolId"] != nil { _ = try call(request, values, key) }
                throw operation.error
            }
        }
    }

    private func route(
        _ name: String, _ method: String, _ path: String, bodyBytesMaximum: Int = Route.smallBodyBytes,
        perform: @escaping @Sendable (CognitoCall, RegistryContext) throws(CognitoError) -> [UInt8]
    ) -> Route {
        Route(name, method, path, bodyBytesMaximum: bodyBytesMaximum) { request, values in
            admit(request) { key throws(CognitoError) in
                let call = try call(request, values, key)
                return { context in
                    do throws(CognitoError) {
                        return CognitoResponse.json(200, try perform(call, context))
                    } catch {
                        return error.response()
                    }
                }
            }
        }
    }

    /// Lets a request through that was signed with a key which may make it now.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - work: the work on the registry's thread for the holder of the key.
    /// - Returns: the work, or why it is not done.
    private func admit(
        _ request: HTTPRequest,
        _ work: (AccessKey) throws(CognitoError) -> @Sendable (RegistryContext) -> HTTPResponse
    ) -> Admission {
        let key: AccessKey
        do throws(SignatureRefusal) {
            key = try verifier.verify(request, nowSeconds: nowMilliseconds() / 1_000)
        } catch {
            return .answered(refusal(of: request, error))
        }
        let credential = "key \(key.identifier)"
        if let wait = credentials.take(credential) {
            return .answered(
                CognitoError.tooManyRequests("This access key makes too many requests.")
                    .response(retryAfterSeconds: wait))
        }
        do throws(CognitoError) {
            return .admitted(as: credential, .last(writes: request.method != "GET", try work(key)))
        } catch {
            return .answered(error.response())
        }
    }

    private func refusal(of request: HTTPRequest, _ error: SignatureRefusal) -> HTTPResponse {
        guard let wait = credentials.authenticationFailed(request, error.code.rawValue) else {
            return CognitoError(error).response()
        }
        return CognitoError.tooManyRequests("Too many requests from this address could not be authenticated.")
            .response(retryAfterSeconds: wait)
    }

    private func call(
        _ request: HTTPRequest, _ values: PathValues, _ key: AccessKey
    ) throws(CognitoError) -> CognitoCall {
        let pool = values["IdentityPoolId"]
        try CognitoRules.checkIdentifier(pool, "identityPoolId")
        guard key.opens(pool) else {
            throw .notAuthorized("This access key may not be used for identity pool '\(pool)'.")
        }
        guard let app = appByPool[ByteText(pool)] else { throw .notFound("IdentityPool '\(pool)' not found.") }
        return CognitoCall(app: app, identityPoolID: pool, values: values, body: request.body)
    }
}

/// An operation of Cognito Sync that Apus has nothing to answer to, because it keeps no datasets.
///
/// The answer is an error that the API's model (2014-06-30) has for the operation, so that a client raises a named
/// exception: a read is not found, and a write is impossible.
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
