import HTTPServer

/// CloudKit Web Services, as much of it as subscriptions need: `subscriptions/modify`, `list` and `lookup`, and
/// `tokens/create` and `register`.
///
/// The container is `iCloud.` and an app's bundle identifier. CloudKit's API token, `ckAPIToken`, is a bearer token of
/// ours, a secret of a backend. `ckWebAuthToken` is the name of the user on whose behalf the backend acts; the backend
/// vouches for it. A request that is signed with a server-to-server key is on behalf of the key's user, and reaches the
/// public database only, as with Apple. The environment in the path is not looked at: a registry is one.
struct CloudKitAPI: ClientAPI {
    typealias Operation = @Sendable (CloudKitCall) throws(CloudKitError) -> HTTPResponse

    let firstSegments = ["database", "device"]
    private let admission: CloudKitAdmission
    private let crossOrigin: CrossOriginPolicy

    init(
        configuration: RegistryServerConfiguration, credentials: CredentialGuard, courierAddress: CourierAddress,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        admission = CloudKitAdmission(
            configuration: configuration, credentials: credentials, courierAddress: courierAddress,
            nowMilliseconds: nowMilliseconds)
        crossOrigin = CrossOriginPolicy(
            origins: configuration.allowedOrigins, fieldNames: "Authorization, Content-Type, *")
    }

    var routes: [Route] {
        let subscriptions = "/database/1/{container}/{environment}/{database}/subscriptions"
        let modify: Operation = { call throws(CloudKitError) in try call.modify() }
        let list: Operation = { call throws(CloudKitError) in try call.list() }
        let lookup: Operation = { call throws(CloudKitError) in try call.lookup() }
        let create: Operation = { call throws(CloudKitError) in try call.createToken() }
        let register: Operation = { call throws(CloudKitError) in try call.registerToken() }
        return [
            route(
                "subscriptions/modify", "POST", "\(subscriptions)/modify", writes: true,
                bodyBytesMaximum: Route.largeBodyBytes, modify),
            preflight("POST", "\(subscriptions)/modify"),
            route("subscriptions/list", "GET", "\(subscriptions)/list", writes: false, list),
            route("subscriptions/list", "POST", "\(subscriptions)/list", writes: false, list),
            preflight("GET, POST", "\(subscriptions)/list"),
            route(
                "subscriptions/lookup", "POST", "\(subscriptions)/lookup", writes: false,
                bodyBytesMaximum: Route.mediumBodyBytes, lookup),
            preflight("POST", "\(subscriptions)/lookup"),
        ]
            // Apple's reference has the first, its own library the second.
            + ["database", "device"].flatMap { first in
                let tokens = "/\(first)/1/{container}/{environment}/tokens"
                return [
                    route("tokens/create", "POST", "\(tokens)/create", writes: true, create),
                    preflight("POST", "\(tokens)/create"),
                    route("tokens/register", "POST", "\(tokens)/register", writes: true, register),
                    preflight("POST", "\(tokens)/register"),
                ]
            }
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        var error = CloudKitError(status: status, message)
        error.retryAfterSeconds = retryAfterSeconds
        return error.response(status: status)
    }

    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse {
        crossOrigin.completed(response, for: fields)
    }

    func admitBody(of request: HTTPRequest) -> BodyAdmission { admission.admitBody(of: request) }

    func admitStray(_ request: HTTPRequest, _ refusal: HTTPResponse) -> Admission {
        admission.admit(request, writes: false) { _, _ throws(CloudKitError) in refusal }
    }

    private func route(
        _ name: String, _ method: String, _ path: String, writes: Bool,
        bodyBytesMaximum: Int = Route.smallBodyBytes, _ perform: @escaping Operation
    ) -> Route {
        Route(name, method, path, bodyBytesMaximum: bodyBytesMaximum) { request, values in
            admission.admit(request, writes: writes) { sender, context throws(CloudKitError) in
                try perform(try admission.call(request, values, sender, context))
            }
        }
    }

    private func preflight(_ methods: String, _ path: String) -> Route {
        Route("preflight", "OPTIONS", path) { request, _ in
            .answered(
                crossOrigin.allows(request)
                    ? crossOrigin.preflight(methods: methods)
                    : CloudKitError(
                        .accessDenied, "This origin may not use the API; registry.allowed_origins has those that may."
                    ).response())
        }
    }
}
