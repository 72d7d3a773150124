import Crypto
import PushTestKit
import ServiceClient
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("The configuration of Web Push")
struct WebPushConfigurationTests {
    private let fixture: ConfigurationFixture

    init() throws {
        fixture = try ConfigurationFixture()
        try fixture.folder.write("vapid.pem", ES256PrivateKey.generate().pem)
    }

    private static let app = """
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.webpush]
        key_file = "vapid.pem"
        subject = "mailto:push@example.com"

        """

    @Test(
        "The services to try are those that are trusted at a port, or else the large ones and those that are known",
        arguments: [
            ("", ["fcm.googleapis.com:443", "updates.push.services.mozilla.com:443", "web.push.apple.com:443"]),
            (
                #"known_hosts = [".example.com", "push.example.org", "web.push.apple.com"]"#,
                [
                    "fcm.googleapis.com:443", "updates.push.services.mozilla.com:443", "web.push.apple.com:443",
                    "push.example.org:443",
                ]
            ),
            (#"trusted_hosts = ["localhost", "push.example.com:8443"]"#, ["push.example.com:8443"]),
            (
                #"trusted_hosts = ["localhost", "::1", "h:", ":1", "h:0"]"#,
                ["fcm.googleapis.com:443", "updates.push.services.mozilla.com:443", "web.push.apple.com:443"]
            ),
        ])
    func services(_ lines: String, _ expected: [String]) throws {
        let configuration = try fixture.load("[webpush]\n\(lines)\n" + Self.app).configuration
        #expect(configuration.browserServices.map(\.description) == expected)
    }

    @Test("Without an app that pushes to browsers there is no service to try")
    func none() throws {
        #expect(try fixture.load(ConfigurationFixture.app).configuration.browserServices.isEmpty)
    }

    @Test("The key signs, and its public half is told; a file that is gone is named")
    func key() throws {
        let webPush = try #require(fixture.load(Self.app).configuration.apps.first?.webPush)
        #expect(try webPush.checkKey().count == 87)
        var missing = webPush
        missing.keyFile = "/missing.pem"
        let error = #expect(throws: ServiceError.self) { try missing.checkKey() }
        #expect(error?.message.contains("/missing.pem") == true)
    }
}
