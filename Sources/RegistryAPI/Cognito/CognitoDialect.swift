import HTTPServer
import JSON
import PushCore

/// Amazon Cognito Sync's REST API (2014-06-30), as much of it as push needs.
///
/// A request is signed with an access key of the configuration (Signature Version 4). A pool that no app has does not
/// exist.
struct CognitoDialect: Dialect {
    let firstSegments = ["identitypools", "bulkpublish", "getBulkPublishDetails"]
    private let verifier: SignatureVerifier
    private let credentials: CredentialGuard
    private let appByPool: [String: String]
    private let nowMilliseconds: @Sendable () -> Int64

    init(
        configuration: RegistryServerConfiguration, credentials: CredentialGuard,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        verifier = SignatureVerifier(service: "cognito-sync", keys: configuration.accessKeys)
        self.credentials = credentials
        self.nowMilliseconds = nowMilliseconds
        appByPool = Dictionary(
            configuration.apps.flatMap { app in app.identityPoolIDs.map { ($0, app.name) } },
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
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        CognitoError.ofStatus(status, message).response(retryAfterSeconds: retryAfterSeconds)
    }

    private func route(
        _ name: String, _ method: String, _ path: String, bodyBytesMaximum: Int = Route.smallBodyBytes,
        perform: @escaping @Sendable (CognitoCall, RegistryContext) throws(CognitoError) -> [UInt8]
    ) -> Route {
        Route(name, method, path, bodyBytesMaximum: bodyBytesMaximum) { request, values in
            admit(request, values) { call, context in
                do throws(CognitoError) {
                    return CognitoResponse.json(200, try perform(call, context))
                } catch {
                    return error.response()
                }
            }
        }
    }

    private func admit(
        _ request: HTTPRequest, _ values: PathValues,
        perform: @escaping @Sendable (CognitoCall, RegistryContext) -> HTTPResponse
    ) -> Admission {
        let key: AccessKey
        do throws(SignatureRefusal) {
            key = try verifier.verify(request, nowSeconds: nowMilliseconds() / 1_000)
        } catch {
            if let wait = credentials.authenticationFailed(request, error.code.rawValue) {
                return .answered(
                    CognitoError.tooManyRequests("Too many requests from this address could not be authenticated.")
                        .response(retryAfterSeconds: wait))
            }
            return .answered(CognitoError(error).response())
        }
        let credential = "key \(key.identifier)"
        if let wait = credentials.take(credential) {
            return .answered(
                CognitoError.tooManyRequests("This access key makes too many requests.")
                    .response(retryAfterSeconds: wait))
        }
        do throws(CognitoError) {
            let call = try call(request, values, key)
            return .admitted(as: credential, .last(writes: request.method != "GET") { perform(call, $0) })
        } catch {
            return .answered(error.response())
        }
    }

    private func call(
        _ request: HTTPRequest, _ values: PathValues, _ key: AccessKey
    ) throws(CognitoError) -> CognitoCall {
        let pool = values["IdentityPoolId"]
        try CognitoRules.checkIdentifier(pool, "identityPoolId")
        guard key.opens(pool) else {
            throw .notAuthorized("This access key may not be used for identity pool '\(pool)'.")
        }
        guard let app = appByPool[pool] else { throw .notFound("IdentityPool '\(pool)' not found.") }
        return CognitoCall(app: app, identityPoolID: pool, values: values, body: request.body)
    }
}
