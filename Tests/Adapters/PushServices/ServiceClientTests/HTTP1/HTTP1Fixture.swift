import Crypto
import Glibc
import HTTPClient
import HTTPServer
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import StructuredLogging

/// A client over HTTP/1.1 with a service that says who asks, or holds its answers.
final class HTTP1Fixture: Sendable {
    /// The state of the service.
    struct Served: Sendable {
        /// The identifiers of the pushes that came, in order.
        var pushes: [String] = []
        var held: [HTTPResponder] = []
        var heldMaximum = 0
        var isHolding = false
        /// How many of the next requests are answered 421.
        var misdirectedCount = 0
    }

    private struct Handler: HTTPHandler {
        let served: Watched<Served>

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            let (isHolding, isMisdirected) = served.update { served in
                served.pushes.append(String(decoding: request.body, as: UTF8.self))
                served.misdirectedCount -= 1
                return (served.isHolding, served.misdirectedCount >= 0)
            }
            if isMisdirected { return .now(.text(421, "elsewhere")) }
            guard isHolding else { return .now(.text(200, "taken")) }
            return .held { [served] responder in
                served.update { served in
                    served.held.append(responder)
                    served.heldMaximum = max(served.heldMaximum, served.held.count)
                }
            }
        }
    }

    /// Sends the identifier of a push as its body.
    private final class Adapter: HTTP1Adapter {
        func request(
            for push: borrowing PushRequest, authorization: [UInt8], destination: PostDestination, nowSeconds: Int64
        ) -> PostRequest {
            PostRequest(
                to: destination, path: "/push",
                fields: [("Authorization", String(decoding: authorization, as: UTF8.self))],
                body: Array("\(push.identifier)".utf8))
        }

        func answer(_ answer: PostAnswer, to push: borrowing PushRequest, nowSeconds: Int64) -> PushAnswer {
            PushAnswer(
                status: answer.status, retryAfterSeconds: answer.retryAfterSeconds(nowSeconds: nowSeconds))
        }

        func meaning(of answer: PushAnswer) -> AnswerMeaning { answer.status == 401 ? .authorizationExpired : [] }
    }

    private final class FixedAuthorizer: Authorizer {
        func authorization() -> AuthorizationState {
            .ready(Authorization(generation: 1, keyGeneration: 1, headerValue: Array("Bearer good".utf8)))
        }

        func authorizationExpired(generation: UInt64) -> AuthorizationState { authorization() }
    }

    let served = Watched(Served())
    let results = HTTP1Results()
    let metrics = MetricsRegistry()
    let client: HTTP1Client
    private let folder: TemporaryFolder
    private let identity: ServerIdentity

    /// Prepares a client to a port where nobody listens yet.
    init(port: UInt16, limits: HTTP1Limits = HTTP1Limits(), closeTimeoutNanoseconds: UInt64 = 0) throws {
        let now = Int64(time(nil))
        identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        folder = try TemporaryFolder()
        let route = HTTP1Route(
            service: .adm, app: "chat", name: "test", endpoint: ServiceEndpoint(host: "localhost", port: port),
            extraTrustAnchorsFile: try folder.write("ca.pem", identity.certificateChainPEM),
            authorizer: FixedAuthorizer(), limits: limits, makeAdapter: { Adapter() })
        client = try HTTP1Client(
            routes: [route], loopName: "test", logger: .silent, metrics: metrics,
            closeTimeoutNanoseconds: closeTimeoutNanoseconds, seed: 1)
        client.start(handler: results)
    }

    /// How many connections its requests have made.
    var connectionCount: Int {
        let line = metrics.render().split(separator: "\n").first {
            $0.hasPrefix("apus_push_connects_total{") && $0.contains("ready")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// Begins to listen.
    func serve(on port: UInt16) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: port, identity: identity)
        configuration.idleSecondsMaximum = 300
        return try HTTPServer(configuration: configuration, handler: Handler(served: served))
    }

    /// Sends pushes with these identifiers.
    func send(_ identifiers: some Sequence<Int>, route: Int = 0) {
        let content = PushContent(
            payload: [], topic: "", pushType: .alert, priority: .immediate, expirationSeconds: nil, collapseID: nil)
        client.send(
            identifiers.compactMap { identifier in
                DeviceToken(text: Array("token-\(identifier)".utf8)).map {
                    PushRequest(
                        identifier: UInt64(identifier), route: route, token: $0,
                        apnsID: APNsIdentifier(high: 0, low: UInt64(identifier)), content: content)
                }
            })
    }

    /// Answers all requests that are held.
    func answerHeld() {
        let held = served.update { served in
            defer { served.held = [] }
            return served.held
        }
        for responder in held { responder.respond(.text(200, "held")) }
    }
}

/// The results of a client, and what it said of its routes.
final class HTTP1Results: PushTransportHandler {
    let results = Watched<[AttemptResult]>([])
    let reachability = Watched<[Bool]>([])

    func pushesEnded(_ results: [AttemptResult]) { self.results.update { $0 += results } }

    func routesChanged(_ changes: [RouteChange]) { reachability.update { $0 += changes.map(\.isReachable) } }

    /// The outcomes by identifier, when there are so many results.
    func outcomes(_ count: Int) async -> [UInt64: AttemptOutcome] {
        _ = await results.wait { $0.count >= count }
        return Dictionary(results.value.map { ($0.identifier, $0.outcome) }, uniquingKeysWith: { first, _ in first })
    }
}

extension AttemptOutcome {
    static let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    var isAmbiguous: Bool { if case .ambiguous = self { true } else { false } }
    var isNotProcessed: Bool { if case .notProcessed = self { true } else { false } }
}
