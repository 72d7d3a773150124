import Crypto
import Essentials
import EventLoop
import FCMSimulator
import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

/// A simulator of FCM, and a client of it that has a service account.
struct FCMFixture {
    static let project = "chat-4711"
    static let email = "push@chat-4711.iam.gserviceaccount.com"
    static let keyID = "0123456789abcdef"
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    static let device = "dQw4w9WgXcQ:APA91bF-simulated_token"
    static let installation = "cQw4w9WgXcQabcdefghijk"

    /// One key for all tests, because making one takes long.
    private static let sharedKey = Result { try RS256PrivateKey.generate() }

    let simulator: FCMSimulator
    let client: SimulatorClient
    let clock: MovableClock

    /// The key of the account.
    static func key() throws -> RS256PrivateKey { try sharedKey.get() }

    /// The configuration of the tests, with changes.
    static func configured(
        _ change: (inout FCMSimulatorConfiguration) throws -> Void = { _ in }
    ) throws -> FCMSimulatorConfiguration {
        var configuration = FCMSimulatorConfiguration()
        configuration.projectID = project
        configuration.projectNumber = "4711"
        configuration.accounts = [.init(email: email, publicKeysPEM: [keyID: try key().publicKeyPEM])]
        configuration.recordsInMemoryMaximum = 10_000
        try change(&configuration)
        return configuration
    }

    /// Runs a simulator and a client of it, and answers with the final numbers.
    @discardableResult
    static func run(
        _ configuration: FCMSimulatorConfiguration? = nil, _ body: (FCMFixture) async throws -> Void
    ) async throws -> FCMSummary {
        let clock = MovableClock()
        var configuration = try configuration ?? configured()
        configuration.wallClockMilliseconds = { clock.nowMilliseconds }
        let simulator = try await FCMSimulator.start(configuration)
        let client = try await SimulatorClient.connect(
            port: simulator.port, trustAnchorPEM: simulator.trustAnchorPEM)
        try await body(FCMFixture(simulator: simulator, client: client, clock: clock))
        try await client.close()
        return try await simulator.stop()
    }

    // MARK: Access tokens

    /// The claims of a good assertion, in JSON, with changes; nil leaves one out.
    func claims(_ changes: [String: String?] = [:]) -> String {
        let now = clock.nowMilliseconds / 1_000
        let members: [String: String?] = [
            "iss": "\"\(Self.email)\"", "scope": "\"\(Self.scope)\"",
            "aud": "\"https://oauth2.googleapis.com/token\"", "iat": "\(now)", "exp": "\(now + 3_600)",
        ]
        let all = members.merging(changes) { _, changed in changed }
        return "{" + all.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
    }

    /// A signed assertion.
    func assertion(
        header: String = #"{"alg":"RS256","typ":"JWT","kid":"\#(keyID)"}"#, claims: String? = nil,
        key: RS256PrivateKey? = nil
    ) throws -> String {
        let signed =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array((claims ?? self.claims()).utf8))
        return signed + "." + Base64URL.encode(try (key ?? Self.key()).sign(Array(signed.utf8)))
    }

    /// A request for an access token.
    func tokenRequest(_ assertion: String) -> WireRequest {
        WireRequest(
            headers: [
                (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/token"),
                ("content-type", "application/x-www-form-urlencoded"),
            ],
            body: Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8))
    }

    /// Fetches an access token.
    func accessToken(_ assertion: String? = nil) async throws -> String {
        let response = await client.send(tokenRequest(try assertion ?? self.assertion()))
        let body = try JSONParser().parse(try #require(response.body))
        return try #require(body["access_token"]?.string, "\(response)")
    }

    // MARK: Messages

    /// A request to send a message, given the whole body.
    func request(
        body: String, accessToken: String?, path: String = "/v1/projects/\(project)/messages:send"
    ) -> WireRequest {
        let authorization = accessToken.map { [("authorization", "Bearer " + $0)] } ?? []
        return WireRequest(
            headers: [
                (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", path),
            ] + authorization + [("content-type", "application/json")], body: Array(body.utf8))
    }

    /// A request to send a message to a device.
    func message(
        to device: String = device, _ members: String = #""data":{"syncCount":"7"}"#, accessToken: String
    ) -> WireRequest {
        request(body: #"{"message":{"token":"\#(device)",\#(members)}}"#, accessToken: accessToken)
    }

    /// FCM's code in the detail `FcmError` of an answer.
    static func errorCode(_ response: ClientResponse) throws -> String? {
        guard let body = response.body, let parsed = try? JSONParser().parse(body) else { return nil }
        return parsed["error"]?["details"]?.array?.lazy.compactMap { $0["errorCode"]?.string }.first
    }
}

extension SimulatorFaults {
    /// Faults that are written as lines.
    static func fcm(_ lines: String) throws -> SimulatorFaults { try SimulatorFaults(parsingFCM: Array(lines.utf8)) }
}

extension TargetScript {
    /// A script that is written as lines.
    static func lines(_ lines: String) throws -> TargetScript { try TargetScript(parsing: Array(lines.utf8)) }
}

extension JSONValue {
    /// The elements of an array; none of anything else.
    var elements: [JSONValue] { array.map { Array($0) } ?? [] }
}
