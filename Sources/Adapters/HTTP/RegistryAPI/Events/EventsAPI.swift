import Backoffice
import ChangeEvents
import HTTPServer
import Messages
import RegistryCore

/// `/v1/events`: backends publish change events without a client of AMQP, and ask what became of them.
///
/// The requests to publish are those of CloudEvents' HTTP binding (1.0.2), and plain JSON that asks for a push. A
/// success is answered only when RabbitMQ has confirmed every event. A server whose operator has not asked for it
/// answers 404.
struct EventsAPI: ClientAPI {
    private static let path = "/v1/events"

    let firstSegments = ["v1"]
    let secondSegment: String? = "events"
    private let gate: TokenGate
    private let service: EventService?
    private let keepsHistory: Bool

    init(gate: TokenGate, service: EventService?, keepsHistory: Bool) {
        self.gate = gate
        self.service = service
        self.keepsHistory = keepsHistory
    }

    var routes: [Route] {
        [
            Route("publishEvents", "POST", Self.path, bodyBytesMaximum: Route.largeBodyBytes) { request, values in
                admit(request, values)
            },
            Route("getEvent", "GET", "\(Self.path)/{eventId}") { request, values in admitQuestion(request, values) },
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
        let first: RegistryStep
        do throws(TokenRefusal) {
            if let token = try gate.openFresh(digest) {
                first = take(request, values, of: token, nil)
            } else {
                first = .reading { context in
                    do throws(TokenRefusal) {
                        let token = try gate.open(digest, request, for: .publish, context)
                        return take(request, values, of: token, context)
                    } catch {
                        return .answered(NativeProblem(error).response)
                    }
                }
            }
        } catch {
            return .answered(NativeProblem(error).response)
        }
        return .admitted(as: gate.credential(digest, request), first)
    }

    /// Takes a request with events; the registry is asked only about a key.
    private func take(
        _ request: HTTPRequest, _ values: PathValues, of token: APIToken, _ context: RegistryContext?
    ) -> RegistryStep {
        do throws(NativeProblem) {
            try NativeParameters.check(values, request, queryNames: [])
            try NativeParameters.refuseConditions(of: request)
            guard let service else {
                throw NativeProblem(
                    .notFound, "Events are not taken here. Its operator sets registry.events = true.")
            }
            if let memory = service.memory,
                let key = try EventRequest.rememberedKey(of: request, tokenName: token.name)
            {
                guard let context else { return .reading { take(request, values, of: token, $0) } }
                try Self.refuseReused(key, of: request, memory, context)
            }
            return .suspended { service.take(request, of: token, $0) }
        } catch {
            return .answered(error.response)
        }
    }

    /// Refuses a key that the registry remembers with another content.
    ///
    /// The same content is published again: the worker finds that it has been pushed.
    private static func refuseReused(
        _ key: Int64, of request: HTTPRequest, _ memory: any EventMemoryFollower, _ context: RegistryContext
    ) throws(NativeProblem) {
        let known: Int64?
        do throws(RegistryError) {
            known = try context.using { (registry) throws(RegistryError) in
                try memory.content(ofKey: key, in: registry, atMilliseconds: context.nowMilliseconds)
            }
        } catch {
            throw NativeProblem(error)
        }
        guard let known, known != Message.contentDigest(of: request.body) else { return }
        throw .keyReused
    }

    // MARK: What became of an event

    /// The most outcomes of an event that one answer is made of.
    private static let outcomesMaximum = 1_000

    private func admitQuestion(_ request: HTTPRequest, _ values: PathValues) -> Admission {
        guard let digest = TokenVerifier.digest(in: request) else {
            return .answered(NativeProblem(gate.missing(request)).response)
        }
        return .admitted(
            as: gate.credential(digest, request),
            .last(writes: false) { context in
                do throws(NativeProblem) {
                    let token: APIToken
                    do throws(TokenRefusal) {
                        token = try gate.open(digest, request, for: .read, orOnly: .publish, context)
                    } catch {
                        throw NativeProblem(error)
                    }
                    try NativeParameters.check(values, request, queryNames: ["source"])
                    return try answer(values["eventId"], request, token, context)
                } catch {
                    return error.response
                }
            })
    }

    private func answer(
        _ identifier: String, _ request: HTTPRequest, _ token: APIToken, _ context: RegistryContext
    ) throws(NativeProblem) -> HTTPResponse {
        guard keepsHistory else {
            throw NativeProblem(
                .notFound, "What became of events is not kept. Its operator sets events.history, for example \"24h\".")
        }
        let summary: EventSummary
        do throws(RegistryError) {
            summary = try context.using { (registry) throws(RegistryError) in
                try EventSummary(
                    of: identifier, source: request.query("source"), app: token.app, in: registry,
                    outcomesMaximum: Self.outcomesMaximum)
            }
        } catch {
            throw NativeProblem(error)
        }
        guard !summary.isEmpty else {
            throw NativeProblem(
                .notFound,
                "No push of such an event has ended within events.history: it waits in RabbitMQ, or was never "
                    + "published. A large fan-out is found with its source alone.", retryAfterSeconds: 1)
        }
        return NativeHandler.json { summary.write(identifier, to: &$0) }
    }

    // MARK: Webhooks

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
