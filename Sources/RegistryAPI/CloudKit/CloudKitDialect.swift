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
            route("subscriptions/modify", "POST", "\(subscriptions)/modify", writes: true, modify),
            route("subscriptions/list", "GET", "\(subscriptions)/list", writes: false, list),
            route("subscriptions/list", "POST", "\(subscriptions)/list", writes: false, list),
            route("subscriptions/lookup", "POST", "\(subscriptions)/lookup", writes: false, lookup),
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

    func refusal(_ status: Int, _ message: String) -> HTTPResponse {
        CloudKitError(status: status, message).response(status: status)
    }

    private func route(
        _ name: String, _ method: String, _ path: String, writes: Bool, _ perform: @escaping Operation
    ) -> Route {
        Route(name, method, path) { request, values in
            guard let digest = TokenVerifier.digestOfCloudKit(in: request) else {
                return .answered(CloudKitError(gate.missing(request)).response())
            }
            return .admitted { context in
                do throws(CloudKitError) {
                    return try perform(try call(digest, request, values, writes: writes, context))
                } catch {
                    return error.response()
                }
            }
        }
    }

    private func call(
        _ digest: [UInt8], _ request: HTTPRequest, _ values: PathValues, writes: Bool, _ context: RegistryContext
    ) throws(CloudKitError) -> CloudKitCall {
        let token: APIToken
        do throws(TokenRefusal) {
            token = try gate.open(digest, request, writes: writes, context)
        } catch {
            throw CloudKitError(error)
        }
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
