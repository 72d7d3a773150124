import HTTPServer
import PushCore

/// CloudKit Web Services, as much of it as subscriptions need: `subscriptions/modify`, `list` and `lookup`, and
/// `tokens/create` and `register`.
///
/// The container is `iCloud.` and an app's bundle identifier. What CloudKit calls the API token, `ckAPIToken`, is a
/// bearer token of ours, a secret of a backend; and `ckWebAuthToken` is the name of the user on whose behalf the
/// backend acts, for which it vouches. The environment in the path is not looked at: a registry is one.
struct CloudKitDialect: Dialect {
    typealias Operation = @Sendable (CloudKitCall) throws(CloudKitError) -> HTTPResponse

    let firstSegments = ["database", "device"]
    private let apps: [RegistryAPIApp]
    private let gate: TokenGate
    private let courierAddress: CourierAddress

    init(configuration: RegistryServerConfiguration, credentials: CredentialGuard) {
        apps = configuration.apps
        gate = TokenGate(credentials: credentials)
        courierAddress = CourierAddress(publicURL: configuration.publicURL, isSecure: configuration.identity != nil)
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
            route("subscriptions/list", "GET", "\(subscriptions)/list", writes: false, list),
            route("subscriptions/list", "POST", "\(subscriptions)/list", writes: false, list),
            route(
                "subscriptions/lookup", "POST", "\(subscriptions)/lookup", writes: false,
                bodyBytesMaximum: Route.mediumBodyBytes, lookup),
        ]
            // Apple's reference has the first, its own library the second.
            + ["database", "device"].flatMap { first in
                let tokens = "/\(first)/1/{container}/{environment}/tokens"
                return [
                    route("tokens/create", "POST", "\(tokens)/create", writes: true, create),
                    route("tokens/register", "POST", "\(tokens)/register", writes: true, register),
                ]
            }
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        var error = CloudKitError(status: status, message)
        error.retryAfterSeconds = retryAfterSeconds
        return error.response(status: status)
    }

    private func route(
        _ name: String, _ method: String, _ path: String, writes: Bool,
        bodyBytesMaximum: Int = Route.smallBodyBytes, _ perform: @escaping Operation
    ) -> Route {
        Route(name, method, path, bodyBytesMaximum: bodyBytesMaximum) { request, values in
            guard let digest = TokenVerifier.digestOfCloudKit(in: request) else {
                return .answered(CloudKitError(gate.missing(request)).response())
            }
            let first = RegistryStep.reading { context in
                let token: APIToken
                do throws(TokenRefusal) {
                    token = try gate.open(digest, request, writes: writes, context)
                } catch {
                    return .answered(CloudKitError(error).response())
                }
                return .last(writes: writes, from: context) { context in
                    do throws(CloudKitError) {
                        return try perform(try call(token, request, values, context))
                    } catch {
                        return error.response()
                    }
                }
            }
            return .admitted(as: gate.credential(digest, request), first)
        }
    }

    private func call(
        _ token: APIToken, _ request: HTTPRequest, _ values: PathValues, _ context: RegistryContext
    ) throws(CloudKitError) -> CloudKitCall {
        let container = values["container"]
        guard let app = apps.first(where: { "iCloud.\($0.bundleID)" == container }),
            token.app == nil || token.app == app.name
        else {
            throw CloudKitError(
                .notFound, "There is no container \"\(container.prefix(256))\", or the token is not for its app.")
        }
        guard ["development", "production"].contains(values["environment"]) else {
            throw CloudKitError(.notFound, "The environment is development or production.")
        }
        guard let user = request.query("ckWebAuthToken"), !user.isEmpty else {
            throw CloudKitError(
                .authenticationRequired, "The user is missing: give its name as ckWebAuthToken.")
        }
        return CloudKitCall(
            app: app.name, userID: user, request: request, values: values, context: context,
            courierAddress: courierAddress)
    }
}
