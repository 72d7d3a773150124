import Backoffice
import ChangeQueue
import HTTPClient
import PushTestKit
import Testing
import Webhooks
import WorkerConfiguration

@testable import Dispatcher

@Suite("The configuration of webhooks")
struct WebhookConfigurationTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private func text(_ lines: String, outcomes: String = #"["all"]"#) -> String {
        ConfigurationFixture.app.replacing("[[app]]\n", with: "[[app]]\noutcomes = \(outcomes)\n")
            + "[app.webhook]\n\(lines)\n"
    }

    private func problems(_ url: String, _ more: String = "") throws -> [String] {
        try fixture.problems(text("url = \"\(url)\"\nsecret = \"\(Self.secret)\"\n\(more)"))
    }

    @Test("A webhook has its defaults, its queues and its endpoint; without a url there is none")
    func defaults() throws {
        let lines = "url = \"https://backend.example.com/outcomes?key=1\"\nsecret = [\"\(Self.secret)\"]"
        let configuration = try fixture.load(text(lines)).configuration
        let endpoint = try #require(configuration.webhookEndpoints.first)
        #expect(endpoint.app == "chat" && endpoint.address.path == "/outcomes?key=1")
        #expect(endpoint.address.origin == "https://backend.example.com:443")
        #expect(endpoint.requestsMaximum == 8 && endpoint.timeoutNanoseconds == 15_000_000_000)
        #expect(endpoint.retries.retentionMilliseconds == 72 * 3_600_000 && endpoint.secrets.count == 1)
        let queues = configuration.topology.webhooks
        #expect(queues.map(\.app) == ["chat"] && queues.first?.messagesMaximum == 1_000_000)
        #expect(queues.first?.overflow == .dropOldest)
        let none = try fixture.load(ConfigurationFixture.app + "[app.webhook]\nurl = \"\"\n").configuration
        #expect(none.webhookEndpoints.isEmpty && none.topology.webhooks.isEmpty)
    }

    @Test("An app with a webhook has to have outcomes, and a secret needs a url")
    func incomplete() throws {
        let silent = try fixture.problems(
            text("url = \"https://backend.example.com/\"\nsecret = \"\(Self.secret)\"", outcomes: "[]"))
        #expect(
            silent.count == 1 && silent.first?.contains("app.0.outcomes: the app has a webhook") == true, "\(silent)")
        let nowhere = try fixture.problems(text("secret = \"\(Self.secret)\""))
        #expect(nowhere.count == 1 && nowhere.first?.contains("app.0.webhook.url: missing") == true, "\(nowhere)")
    }

    @Test("What posts has to have the secret, a check warns that it would not start, and no other process wants it")
    func unsigned() throws {
        let unsigned = text(#"url = "https://backend.example.com/""#)
        let error = #expect(throws: ConfigurationError.self) { try fixture.load(unsigned, for: .webhooks) }
        #expect(error?.problems.map(\.key) == ["app.0.webhook.secret"], "\(error?.problems ?? [])")
        let warnings = try fixture.load(unsigned, for: .check).warnings.filter { $0.key.contains("webhook") }
        #expect(
            warnings.map { ConfigurationFixture.shortened($0).contains("'apus webhooks' does not start") } == [true])
        for purpose in [.worker, .registryServer, .tool] as [ConfigurationLoader.Purpose] {
            let loaded = try fixture.load(unsigned, for: purpose)
            #expect(loaded.warnings.allSatisfy { !$0.key.contains("webhook") })
            #expect(loaded.configuration.topology.webhooks.map(\.app) == ["chat"])
        }
    }

    @Test("A secret of the wrong form is refused without being shown, and so is one of several")
    func secrets() throws {
        for (value, subject) in [
            (#""whsec_c2VjcmV0""#, "the secret"), (#"["\#(Self.secret)", "hunter2"]"#, "secret 2"),
        ] {
            let problems = try fixture.problems(
                text("url = \"https://backend.example.com/\"\nsecret = \(value)"))
            #expect(
                problems.count == 1 && problems.first?.contains("\(subject) has the wrong form") == true, "\(problems)")
            #expect(!problems.joined().contains("hunter2") && !problems.joined().contains("c2VjcmV0"))
        }
        let lines = try fixture.problems(
            text("url = \"https://backend.example.com/\"\nsecret = \"\(Self.secret)\\n\(Self.secret)\""))
        #expect(lines.count == 1 && lines[0].contains("a comma between two"), "\(lines)")
        let loaded = try fixture.load(text("url = \"https://backend.example.com/\"\nsecret = \"\(Self.secret)\""))
        #expect(!loaded.effectiveText.contains("MfKQ") && loaded.configuration.secrets.contains(Self.secret))
        // The path of an address may hold a secret, too.
        #expect(loaded.configuration.secrets.contains("https://backend.example.com/"))
    }

    @Test("A secret may come from a file that the environment names")
    func secretFile() throws {
        let path = try fixture.folder.write("secret", Self.secret + "\n")
        let loaded = try fixture.load(
            text(#"url = "https://backend.example.com/""#), environment: ["APUS_APP_0_WEBHOOK_SECRET_FILE": path])
        #expect(loaded.configuration.webhookEndpoints.first?.secrets.count == 1)
    }

    @Test(
        "A url is https and public, or names this machine itself",
        arguments: [
            "https://backend.example.com", "https://backend.example.com:8443/a?b=c", "https://93.184.216.34/",
            "https://127.0.0.1:8443/", "http://127.0.0.1:8080/", "http://localhost:8080/", "http://[::1]:8080/",
            "https://[2606:2800:220:1::1]/",
        ])
    func accepted(url: String) throws { #expect(try problems(url) == []) }

    @Test(
        "Other urls are refused, each with a remedy",
        arguments: [
            ("backend.example.com", "it cannot be read"),
            ("https://user:word@backend.example.com/", "it cannot be read"),
            ("ftp://backend.example.com/", "it cannot be read"),
            ("https://backend.example.com/a b", "it cannot be read"),
            ("http://backend.example.com/", "unencrypted"), ("http://10.0.0.5/", "unencrypted"),
            ("https://10.0.0.5/", "10.0.0.5 is not a public address"),
            ("https://169.254.169.254/latest", "169.254.169.254 is not a public address"),
            ("https://[fd00::1]/", "fd00::1 is not a public address"),
        ])
    func refused(url: String, complaint: String) throws {
        let problems = try problems(url)
        #expect(problems.count == 1 && problems.first?.contains(complaint) == true, "\(problems)")
        #expect(problems.first?.contains("user:word") == false)
    }

    @Test("Private addresses can be allowed, also without TLS")
    func allowed() throws {
        for url in ["https://10.0.0.5/", "http://backend.internal:8080/hook"] {
            #expect(try problems(url, "allow_private_addresses = true") == [])
        }
    }

    @Test("A name is connected to at public addresses only, and this machine only if the url names it")
    func addresses() throws {
        func admits(_ url: String, _ address: [UInt8], _ more: String = "") throws -> Bool {
            let lines = "url = \"\(url)\"\nsecret = \"\(Self.secret)\"\n\(more)"
            let endpoint = try #require(fixture.load(text(lines)).configuration.webhookEndpoints.first)
            return endpoint.address.destination.admitsAddress?(address) ?? true
        }
        let name = "https://backend.example.com/"
        #expect(try admits(name, [93, 184, 216, 34]))
        for address in [[10, 0, 0, 5], [127, 0, 0, 1], [169, 254, 169, 254], [192, 168, 1, 1]] as [[UInt8]] {
            #expect(try !admits(name, address))
            #expect(try admits(name, address, "allow_private_addresses = true"))
        }
        #expect(try admits("https://localhost/", [127, 0, 0, 1]))
        #expect(try !admits("https://localhost/", [10, 0, 0, 5]))
        #expect(try !admits("https://localhost.example.com/", [127, 0, 0, 1]))
    }
}
