import Crypto
import EventLoop
import Glibc
import HTTPClient
import HTTPServer
import PushTestKit
import Testing

/// A client on a loop of its own, and a server that it trusts.
struct MultiClientFixture {
    /// The state of the server: requests that came, and those that it leaves without an answer.
    struct Served: Sendable {
        var paths: [String] = []
        var bodies: [String] = []
        var held: [HTTPResponder] = []
        var heldMaximum = 0
    }

    /// Answers `/hold` when the test says so, and everything else with what the path asks for.
    private struct Handler: HTTPHandler {
        let served: Watched<Served>

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            served.update { served in
                served.paths.append(request.target.rawPath)
                served.bodies.append(String(decoding: request.body, as: UTF8.self))
            }
            let parts = request.target.segments
            switch parts.first {
            case "hold":
                return .held { responder in
                    served.update { served in
                        served.held.append(responder)
                        served.heldMaximum = max(served.heldMaximum, served.held.count)
                    }
                }
            case "long":
                return .now(.content(200, type: "text/plain", [UInt8](repeating: 65, count: 200_000)))
            case "moved":
                return .now(HTTPResponse(status: 302, fields: [HTTPField("Location", "https://localhost/other")]))
            case "slow-down":
                let fields = [HTTPField("Retry-After", "7"), HTTPField("X-Kept", "yes"), HTTPField("X-Other", "no")]
                return .now(HTTPResponse(status: 429, fields: fields, body: Array("later".utf8)))
            default:
                let fields = request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
                return .now(.text(200, "\(request.method) \(request.target.rawPath)\n\(fields)"))
            }
        }
    }

    let served = Watched(Served())
    let server: HTTPServer
    let folder: TemporaryFolder
    let caFile: String
    let loop: EventLoop
    private let client: LoopBound<HTTPMultiClient>

    private init(_ limits: HTTPMultiClient.Limits) throws {
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost", "push.example.test"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0, identity: identity)
        configuration.idleSecondsMaximum = 300
        server = try HTTPServer(configuration: configuration, handler: Handler(served: served))
        folder = try TemporaryFolder()
        caFile = try folder.write("ca.pem", identity.certificateChainPEM)
        let loop = try EventLoop(name: "multi-client")
        self.loop = loop
        client = LoopBound(try HTTPMultiClient(loop: loop, limits: limits, keptFields: ["X-Kept"]), to: loop)
    }

    /// Runs a client and a server.
    static func run(
        _ limits: HTTPMultiClient.Limits = .init(), _ body: (MultiClientFixture) async throws -> Void
    ) async throws {
        let fixture = try MultiClientFixture(limits)
        do {
            try await body(fixture)
        } catch {
            try await fixture.end()
            throw error
        }
        try await fixture.end()
    }

    private func end() async throws {
        try await closeClient()
        loop.stopAndJoin()
        answerHeld()
        server.stop()
    }

    /// Closes the client, with all that it has under way.
    func closeClient() async throws { try await loop.run { [client] in client.value.close() } }

    /// How many requests of the client have no outcome yet.
    func requestCount() async throws -> Int { try await loop.run { [client] in client.value.requestCount } }

    /// Where the server is.
    func destination(
        host: String = "localhost", port: UInt16? = nil, proxy: PostProxy? = nil,
        admitsAddress: (@Sendable ([UInt8]) -> Bool)? = nil
    ) -> PostDestination {
        PostDestination(
            host: host, port: port ?? server.port, caFile: caFile, proxy: proxy, admitsAddress: admitsAddress)
    }

    /// A request of the tests.
    func request(
        _ path: String, to destination: PostDestination? = nil, body: String = "content", timeoutSeconds: Double = 60
    ) -> PostRequest {
        PostRequest(
            to: destination ?? self.destination(), path: path, fields: [("X-Test", "1")], body: Array(body.utf8),
            timeoutNanoseconds: UInt64(timeoutSeconds * 1_000_000_000))
    }

    /// Sends a request and waits for its outcome.
    func post(_ request: PostRequest) async -> PostOutcome {
        await withCheckedContinuation { continuation in
            loop.submit { [client] in client.value.post(request) { continuation.resume(returning: $0) } }
        }
    }

    /// Probes a destination.
    func probe(_ destination: PostDestination) async -> PostFailure? {
        await withCheckedContinuation { continuation in
            loop.submit { [client] in client.value.probe(destination) { continuation.resume(returning: $0) } }
        }
    }

    /// Sends a request and waits for its answer.
    func answer(_ request: PostRequest) async throws -> PostAnswer {
        let outcome = await post(request)
        guard case .answered(let answer) = outcome else {
            throw DeadlineOfTest(description: "no answer: \(outcome)")
        }
        return answer
    }

    /// Waits until the server has got so many requests for `/hold`.
    func waitForHeld(_ count: Int) async throws {
        try #require(await served.wait { $0.held.count >= count })
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

/// The error of a test whose awaited event did not come.
struct DeadlineOfTest: Error, CustomStringConvertible {
    let description: String
}

extension PostOutcome {
    /// Why the request was certainly not processed; nil for every other outcome.
    var notSentKind: PostFailure.Kind? {
        if case .notSent(let failure) = self { failure.kind } else { nil }
    }

    /// Why it is not known whether the request was processed; nil for every other outcome.
    var ambiguousKind: PostFailure.Kind? {
        if case .ambiguous(let failure) = self { failure.kind } else { nil }
    }
}
