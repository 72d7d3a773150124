import Notifications
import RegistryCore
import Testing

@testable import RegistryAPI

@Suite("What clients have that fetch their notifications")
struct CourierTokensTests {
    private let tokens = CourierTokens(.random())

    @Test("A secret and a token are recognised, and whatever is changed in them is noticed")
    func recognised() throws {
        let secret = tokens.randomSecret()
        #expect(tokens.secret(secret.text) == secret)
        let token = tokens.token(of: secret)
        #expect(tokens.gaveOut(token) && token == tokens.token(of: secret))
        for offset in 0..<32 {
            var bytes = secret.bytes
            bytes[offset] ^= 1
            #expect(tokens.secret(CourierSecret(bytes: bytes).text) == nil)
            bytes = token.bytes
            bytes[offset] ^= 1
            #expect(!tokens.gaveOut(try #require(DeviceToken(bytes: bytes))))
        }
        #expect(tokens.secret("") == nil && tokens.secret("abc") == nil && tokens.secret("*") == nil)
        #expect(tokens.secret(CourierSecret(bytes: token.bytes).text) == nil)
    }

    @Test("What servers with another key gave out is not recognised")
    func otherKey() {
        let other = CourierTokens(.random())
        let secret = other.randomSecret()
        #expect(tokens.secret(secret.text) == nil && !tokens.gaveOut(other.token(of: secret)))
    }

    @Test("A client that names itself has one secret, and whatever differs in its name makes another")
    func named() {
        func secret(_ client: String, _ user: String, environment: String = "production", app: String = "chat")
            -> CourierSecret
        {
            tokens.secret(clientID: client, environment: environment, user: user, app: app)
        }
        #expect(secret("a", "b") == secret("a", "b"))
        let all = [
            secret("a", "b"), secret("b", "a"), secret("", "ab"), secret("a", "b", environment: "development"),
            secret("a", "b", app: "mail"), secret("\u{e9}", "b"), secret("e\u{301}", "b"),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test("No description shows the key")
    func hidden() {
        let key = CourierKey.random()
        let shown = "\(key) \(String(reflecting: key)) \([key])"
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!(shown + dumped).contains("\(key.bytes[0]), "))
        #expect(CourierKey(bytes: key.bytes) == key && CourierKey(bytes: Array(key.bytes.dropLast())) == nil)
    }
}
