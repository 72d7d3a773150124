import HTTPServer
import RegistryCore

/// The API of Apus' own: JSON, bearer tokens, and an OpenAPI document that says it all (`/openapi.json`).
struct NativeAPI: ClientAPI {
    typealias Operation = @Sendable (NativeHandler) throws(NativeProblem) -> HTTPResponse

    let firstSegments = ["v1", "openapi.json"]
    private let apps: [RegistryAPIApp]
    private let gate: TokenGate

    init(configuration: RegistryServerConfiguration, gate: TokenGate) {
        apps = configuration.apps
        self.gate = gate
    }

    var routes: [Route] {
        ([document] + deviceRoutes + audienceRoutes + subscriptionRoutes + campaignRoutes + erasingRoutes).flatMap {
            route in
            // HEAD is GET without the body, which the server leaves out (RFC 9110, section 9.3.2).
            route.method == "GET" ? [route, Route(route.name, "HEAD", route.path.text, admit: route.admit)] : [route]
        }
    }

    private var document: Route {
        Route("getOpenAPI", "GET", "/openapi.json") { _, _ in
            .answered(.content(200, type: "application/json", PackageResources.openapi_json))
        }
    }

    private var deviceRoutes: [Route] {
        let device = "/v1/devices/{deviceId}"
        return [
            route("listDevices", "GET", "/v1/devices", query: ["app", "identityId", "userId", "after", "limit"]) {
                call throws(NativeProblem) in
                try call.listDevices()
            },
            route("putDevice", "PUT", device, bodyBytesMaximum: Route.largeBodyBytes) { call throws(NativeProblem) in
                try call.putDevice()
            },
            route("getDevice", "GET", device, query: ["datasetsAfter"]) { call throws(NativeProblem) in
                try call.getDevice()
            },
            route("deleteDevice", "DELETE", device) { call throws(NativeProblem) in try call.deleteDevice() },
            route("putToken", "PUT", "\(device)/tokens/{kind}") { call throws(NativeProblem) in try call.putToken() },
            route("deleteToken", "DELETE", "\(device)/tokens/{kind}") { call throws(NativeProblem) in
                try call.deleteToken()
            },
            route("getBadge", "GET", "\(device)/badge") { call throws(NativeProblem) in try call.getBadge() },
            route("setBadge", "PUT", "\(device)/badge") { call throws(NativeProblem) in try call.setBadge() },
            route("resetBadge", "DELETE", "\(device)/badge") { call throws(NativeProblem) in try call.resetBadge() },
        ]
    }

    private var audienceRoutes: [Route] {
        let dataset = "/v1/devices/{deviceId}/datasets/{datasetName}"
        let topic = "/v1/devices/{deviceId}/topics/{topic}"
        let userTopic = "/v1/apps/{app}/users/{userId}/topics/{topic}"
        return [
            route("subscribeDeviceToDataset", "PUT", dataset) { call throws(NativeProblem) in
                try call.subscribeDeviceToDataset()
            },
            route("unsubscribeDeviceFromDataset", "DELETE", dataset) { call throws(NativeProblem) in
                try call.unsubscribeDeviceFromDataset()
            },
            route("subscribeDeviceToTopic", "PUT", topic) { call throws(NativeProblem) in
                try call.subscribeDeviceToTopic()
            },
            route("unsubscribeDeviceFromTopic", "DELETE", topic) { call throws(NativeProblem) in
                try call.unsubscribeDeviceFromTopic()
            },
            route("subscribeUserToTopic", "PUT", userTopic) { call throws(NativeProblem) in
                try call.subscribeUserToTopic()
            },
            route("unsubscribeUserFromTopic", "DELETE", userTopic) { call throws(NativeProblem) in
                try call.unsubscribeUserFromTopic()
            },
            route("listTopics", "GET", "/v1/apps/{app}/topics", query: ["after", "limit"]) {
                call throws(NativeProblem) in
                try call.listTopics()
            },
        ]
    }

    private var subscriptionRoutes: [Route] {
        let device = "/v1/devices/{deviceId}/subscriptions/{subscriptionId}"
        let user = "/v1/apps/{app}/users/{userId}/subscriptions/{subscriptionId}"
        return [
            route(
                "listSubscriptions", "GET", "/v1/subscriptions",
                query: ["app", "recordType", "deviceId", "userId", "after", "limit"]
            ) { call throws(NativeProblem) in try call.listSubscriptions() },
            route("countSubscriptions", "GET", "/v1/subscriptions/counts", query: ["after", "limit"]) {
                call throws(NativeProblem) in
                try call.countSubscriptions()
            },
            route("putDeviceSubscription", "PUT", device, bodyBytesMaximum: Route.mediumBodyBytes) {
                call throws(NativeProblem) in
                try call.putDeviceSubscription()
            },
            route("getDeviceSubscription", "GET", device) { call throws(NativeProblem) in
                try call.getDeviceSubscription()
            },
            route("deleteDeviceSubscription", "DELETE", device) { call throws(NativeProblem) in
                try call.deleteDeviceSubscription()
            },
            route("putUserSubscription", "PUT", user, bodyBytesMaximum: Route.mediumBodyBytes) {
                call throws(NativeProblem) in
                try call.putUserSubscription()
            },
            route("getUserSubscription", "GET", user) { call throws(NativeProblem) in try call.getUserSubscription() },
            route("deleteUserSubscription", "DELETE", user) { call throws(NativeProblem) in
                try call.deleteUserSubscription()
            },
        ]
    }

    private var campaignRoutes: [Route] {
        [
            route("listCampaigns", "GET", "/v1/campaigns", query: ["app", "before", "limit"]) {
                call throws(NativeProblem) in
                try call.listCampaigns()
            },
            route("getCampaign", "GET", "/v1/campaigns/{app}/{campaign}", query: ["from", "through"]) {
                call throws(NativeProblem) in
                try call.getCampaign()
            },
        ]
    }

    private var erasingRoutes: [Route] {
        [
            route("eraseIdentity", "DELETE", "/v1/identities/{identityId}") { call throws(NativeProblem) in
                try call.eraseIdentity()
            },
            route("eraseUser", "DELETE", "/v1/users/{userId}") { call throws(NativeProblem) in try call.eraseUser() },
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        NativeProblem(status: status, message, retryAfterSeconds: retryAfterSeconds).response
    }

    func admitBody(of request: HTTPRequest) -> BodyAdmission {
        gate.admitBody(TokenVerifier.digest(in: request), request) { NativeProblem($0).response }
    }

    // MARK: Authorization

    /// A route that needs a token: one that may write, unless the method only looks.
    private func route(
        _ name: String, _ method: String, _ path: String, query names: [String] = [],
        bodyBytesMaximum: Int = Route.smallBodyBytes, perform: @escaping Operation
    ) -> Route {
        let writes = method != "GET"
        return Route(name, method, path, bodyBytesMaximum: bodyBytesMaximum) { request, values in
            guard let digest = TokenVerifier.digest(in: request) else {
                return .answered(NativeProblem(gate.missing(request)).response)
            }
            let first = RegistryStep.reading { context in
                let token: APIToken
                do throws(NativeProblem) {
                    token = try open(digest, request, writes: writes, context)
                    try NativeParameters.check(values, request, queryNames: names)
                    if writes { try NativeParameters.refuseConditions(of: request) }
                } catch {
                    return .answered(error.response)
                }
                return .last(writes: writes, from: context) { context in
                    do throws(NativeProblem) {
                        return try perform(
                            NativeHandler(token: token, apps: apps, request: request, values: values, context: context))
                    } catch {
                        return error.response
                    }
                }
            }
            return .admitted(as: gate.credential(digest, request), first)
        }
    }

    private func open(
        _ digest: [UInt8], _ request: HTTPRequest, writes: Bool, _ context: RegistryContext
    ) throws(NativeProblem) -> APIToken {
        do throws(TokenRefusal) {
            return try gate.open(digest, request, for: writes ? .write : .read, context)
        } catch {
            throw NativeProblem(error)
        }
    }
}
