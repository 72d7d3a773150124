import APNs
import APNsSimulator
import Crypto
import FoundationEssentials
import PushTestKit
import Testing

@Suite("Push client: mistakes that are seen before anything is sent")
struct PushErrorTests {
    private struct Unencodable: Encodable, Sendable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "never"))
        }
    }

    private static func code(_ body: () throws -> Void) -> PushError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? PushError)?.code }
    }

    @Test("Configurations that cannot work are refused, each with what is wrong")
    func refusesConfigurations() async throws {
        let pem = try ES256PrivateKey.generate().pem
        let good = PushConfiguration(
            bundleID: "com.example.chat", key: .pem(pem), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            environment: .endpoint("127.0.0.1:1"))
        let cases: [(PushError.Code, (inout PushConfiguration) -> Void)] = [
            (.keyInvalid, { $0.key = .file("/nonexistent/AuthKey.p8") }), (.keyInvalid, { $0.key = .pem("no key") }),
            (.configurationInvalid, { $0.keyID = "" }), (.configurationInvalid, { $0.keyID = "short" }),
            (.configurationInvalid, { $0.teamID = "a b" }),
            (.configurationInvalid, { $0.bundleID = "" }),
            (.configurationInvalid, { $0.environment = .endpoint("a:b") }),
            (.configurationInvalid, { $0.proxyURL = "socks5://secret@proxy" }),
            (.configurationInvalid, { $0.extraTrustAnchorsFile = "/nonexistent/anchor.pem" }),
            (.configurationInvalid, { $0.timeout = .zero }), (.configurationInvalid, { $0.timeout = .seconds(1e12) }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            var configuration = good
            change(&configuration)
            #expect(Self.code { _ = try PushClient(configuration) } == expected, "case \(index)")
        }
        #expect(Self.code { _ = try PushClient([]) } == .configurationInvalid)
        #expect(Self.code { _ = try PushClient([good, good]) } == .configurationInvalid)
        let client = try PushClient(good)
        await client.close()
    }

    @Test("A key and a proxy's password never print")
    func keepsSecrets() throws {
        let pem = try ES256PrivateKey.generate().pem
        var text = ""
        dump(SigningKey.pem(pem), to: &text)
        #expect(!text.contains("BEGIN") && !"\(SigningKey.pem(pem))".contains("BEGIN"))
    }

    @Test(
        "What is no device token is refused",
        arguments: ["", "a", "zz", "ab c", String(repeating: "ab", count: 257)])
    func refusesTokens(_ text: String) {
        #expect(Self.code { _ = try PushToken(text) } == .tokenInvalid)
        #expect(Self.code { _ = try PushToken(bytes: []) } == .tokenInvalid)
    }

    @Test("A token is read from digits of either case and from bytes, and prints only its beginning")
    func readsTokens() throws {
        let token = try PushToken("ABcdef0123456789")
        #expect(token == (try PushToken(bytes: [0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89])))
        #expect(token.hexadecimal == "abcdef0123456789" && !"\(token)".contains("23456789"))
    }

    @Test("Values of one's own that cannot stand in a payload are refused when the message is made")
    func refusesValues() {
        #expect(Self.code { _ = try PushMessage([.custom("a", Unencodable())]) } == .messageInvalid)
        #expect(Self.code { _ = try PushMessage([.custom("a", Double.nan)]) } == .messageInvalid)
        #expect(Self.code { _ = try PushMessage([.custom("aps", 1)]) } == .messageInvalid)
        #expect(
            Self.code { _ = try PushMessage([.liveActivity(.update(contentState: 1, timestamp: .now))]) }
                == .messageInvalid)
    }

    @Test("Messages that break a rule of Apple's are refused when they are made")
    func refusesMessages() {
        let attempts: [() throws -> PushMessage] = [
            { try PushMessage([]) }, { try PushMessage([.body("Hello")], kind: .background) },
            { try PushMessage([.contentAvailable], urgency: .immediate) },
            { try PushMessage([.body(String(repeating: "x", count: 5_000))]) },
            { try PushMessage([.body("Hello")], collapseID: String(repeating: "x", count: 65)) },
            { try PushMessage([.relevanceScore(.nan), .body("Hello")]) },
            { try PushMessage([.body("")]) }, { try PushMessage([.body("Hello"), .sound("")]) },
            { try PushMessage([.badge(1), .mutableContent]) },
            { try PushMessage([.body("Hello")], expiration: .after(.zero)) },
            { try PushMessage([.body("Hello")], expiration: .after(.seconds(Int64.max))) },
            { try PushMessage([.body("Hello")], expiration: .at(.distantPast)) },
            { try PushMessage([.body("Hello")], expiration: .at(Date(timeIntervalSince1970: .infinity))) },
            { try PushMessage([.liveActivity(.end(timestamp: Date(timeIntervalSince1970: .nan)))]) },
        ]
        for (index, attempt) in attempts.enumerated() {
            #expect(Self.code { _ = try attempt() } == .messageInvalid, "case \(index)")
        }
    }

    @Test("A certificate that is not trusted ends a push at once, with its reason")
    func reportsAnUntrustedCertificate() async throws {
        let service = try await PushService()
        var configuration = service.configuration()
        configuration.extraTrustAnchorsFile = nil
        // A push that waited for its deadline would outlast any test.
        configuration.timeout = .seconds(80_000)
        let client = try PushClient(configuration)
        for _ in 0..<3 {
            let result = try await client.send(try PushMessage([.body("Hello")]), to: try PushService.token(1))
            guard case .failed(.notProcessed(let reason)) = result.outcome else {
                Issue.record("not failed: \(result)")
                continue
            }
            #expect(reason.contains("certificate") && reason.contains("trust anchor"), "\(reason)")
        }
        await client.close()
        _ = try await service.simulator.stop()
    }
}
