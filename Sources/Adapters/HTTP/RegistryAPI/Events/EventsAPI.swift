import HTTPServer
import RegistryCore

/// `POST /v1/events`: backends publish change events without a client of AMQP.
///
/// The requests are those of CloudEvents' HTTP binding (1.0.2), and plain JSON that asks for a push. A success is
/// answered only when RabbitMQ has confirmed every event. A server whose operator has not asked for it answers 404.
struct EventsAPI: ClientAPI {
    private static let path = "/v1/events"

    let firstSegments = ["v1"]
    let secondSegment: String? = "events"
    private let gate: TokenGate
    private let service: EventService?

    init(gate: TokenGate, service: EventService?) {
        self.gate = gate
        self.service = service
    }

    var routes: [Route] {
        [
            Route("publishEvents", "POST", Self.path, bodyBytesMaximum: Route.largeBodyBytes) { request, values in
                admit(request, values)
            },
            Route("allowWebhook", "OPTIONS", Self.path) { request, _ in .answered(handshake(request)) },
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        NativeProblem(status: status, message, retryAfterSeconds: retryAfterSeconds).response
    }

    func admitBody(of request: HTTPRequest) -> BodyAdmission {
        gate.admitBody(TokenVerifier.digest(in: request), request) { NativeProblem($0).response }
    }

    private func admit(_ request: HTTPRequest, _ values: PathValues) -> Admission {
        guard let digest = TokenVerifier.digest(in: request) else {
            return .answered(NativeProblem(gate.missing(request)).response)
        }
        let first = RegistryStep.reading { context in
            do throws(NativeProblem) {
                let token: APIToken
                do throws(TokenRefusal) {
                    token = try gate.open(digest, request, for: .publish, context)
                } catch {
                    throw NativeProblem(error)
                }
                try NativeParameters.check(values, request, queryNames: [])
                try NativeParameters.refuseConditions(of: request)
                guard let service else {
                    throw NativeProblem(
                        .notFound, "Events are not taken here. Its operator sets registry.events = true.")
                }
                return .suspended { service.take(request, of: token, $0) }
            } catch {
                return .answered(error.response)
            }
        }
        return .admitted(as: gate.credential(digest, request), first)
    }

    /// Tells a sender of webhooks that it may deliver events here, and how many a minute.
    ///
    /// Each delivery needs its token all the same. Source: CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery",
    /// section 4.
    private func handshake(_ request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: 204)
        response.fields.append(HTTPField("Allow", "OPTIONS, POST"))
        guard let origin = request.field("webhook-request-origin"), let service else { return response }
        response.fields.append(HTTPField("WebHook-Allowed-Origin", origin))
        response.fields.append(HTTPField("WebHook-Allowed-Rate", "\(60 * service.eventsPerSecondMaximum)"))
        return response
    }
}
