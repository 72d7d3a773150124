import ADMSimulator
import PushTestKit
import ServiceClient
import Testing

@testable import ADMTransport

@Suite("The credentials for ADM")
struct ADMCredentialsTests {
    private static let secret = "hidden&=+ secret"

    private static func run(
        clientSecret: String = secret, configured change: (inout ADMSimulatorConfiguration) -> Void = { _ in }
    ) throws -> AccessTokenOutcome {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["amzn1.client": secret]
        change(&configuration)
        let simulator = try ADMSimulator.start(configuration)
        defer { simulator.stop() }
        let folder = try TemporaryFolder()
        return ADMCredentials(
            clientID: "amzn1.client", clientSecret: clientSecret,
            endpoint: TokenEndpoint(
                url: "https://localhost:\(simulator.port)/auth/O2/token",
                caFile: try folder.write("ca.pem", simulator.trustAnchorPEM))
        ).fetch()
    }

    @Test("Without an endpoint of its own, an app's tokens come from Amazon")
    func endpoint() { #expect(ADMCredentials.amazonTokenURL == "https://api.amazon.com/auth/O2/token") }

    @Test("A token comes with its life, whatever characters the secret has")
    func granted() throws {
        let outcome = try Self.run { $0.accessTokenSeconds = 1_234 }
        guard case .granted(let token, let lifeSeconds) = outcome else {
            Issue.record("there is no token")
            return
        }
        #expect(token.hasPrefix("Atc|"))
        #expect(lifeSeconds == 1_234)
    }

    @Test("A wrong secret is a refusal, whose reason does not repeat it")
    func refused() throws {
        guard case .failed(let failure) = try Self.run(clientSecret: "another secret") else {
            Issue.record("there is a token")
            return
        }
        #expect(failure.isRefusal)
        #expect(failure.reason.contains("invalid_client"))
        #expect(!failure.reason.contains("another secret"))
    }

    @Test("Trouble of the endpoint passes, after as long as it says")
    func unavailable() throws {
        let outcome = try Self.run { $0.tokenFaults = ADMTokenFaults([.answer(status: 503, retryAfter: "20")]) }
        guard case .failed(let failure) = outcome else {
            Issue.record("there is a token")
            return
        }
        #expect(!failure.isRefusal)
        #expect(failure.retryAfterSeconds == 20)
    }

    @Test("No print of the credentials shows the secret, or the password of a proxy")
    func secrecy() {
        let credentials = ADMCredentials(
            clientID: "amzn1.client", clientSecret: "hidden",
            endpoint: TokenEndpoint(proxy: "http://user:hidden@proxy.example"))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("hidden")) }
    }
}
