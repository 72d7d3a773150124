import Notifications
import PushTestKit
import StructuredLogging
import Testing
import WorkerConfiguration

@Suite("Loading the configuration")
struct ConfigurationLoaderTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    @Test("Without any source every key has its documented default")
    func defaults() throws {
        let configuration = try fixture.load("", for: .tool).configuration
        #expect(configuration.rabbitMQ.urls.map(\.revealed) == ["amqp://guest:guest@127.0.0.1:5672/"])
        #expect(configuration.rabbitMQ.caFile == nil)
        #expect(configuration.rabbitMQ.namespace == "apus")
        #expect(configuration.rabbitMQ.prefetch == 1_000)
        #expect(configuration.registry == .sqlite(path: "\(fixture.folder.path)/registry.db"))
        #expect(configuration.retry.delays.map(\.description) == ["1s", "5s", "30s", "2m", "15m", "1h"])
        #expect(configuration.retry.attemptsMaximum == 10)
        #expect(configuration.retry.ageMaximum == .hours(24))
        #expect(configuration.retry.serverErrorDelay == .minutes(15))
        #expect(configuration.admin.listen == HostPort(host: "127.0.0.1", port: 9_464))
        #expect(configuration.log.level == .info)
        #expect(configuration.log.format == .auto)
        #expect(configuration.worker.drainTimeout == .seconds(30))
        #expect(configuration.worker.pushTimeout == .seconds(20))
        #expect(!configuration.worker.declaresTopology)
        #expect(configuration.apps.isEmpty)
    }

    @Test("Every key of the sample parses, and equals the default where there is one")
    func sample() throws {
        let sample = try fixture.load(SampleConfiguration.text, for: .tool)
        var configuration = sample.configuration
        let app = try #require(configuration.apps.first)
        configuration.apps = []
        #expect(try configuration == fixture.load("", for: .tool).configuration)
        #expect(app.name == "chat")
        #expect(app.identityPools == ["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"])
        #expect(app.apns?.keyFile == "\(fixture.folder.path)/AuthKey_ABC123DEFG.p8")
        #expect(app.apns?.endpoint == nil)
        #expect(app.apns?.caFile == nil)
        let minimal = try fixture.load(ConfigurationFixture.app, for: .tool).configuration.apps[0]
        #expect(app.apns?.connections == minimal.apns?.connections)
        let isFromFile = sample.effective.allSatisfy { if case .file = $0.origin { true } else { false } }
        #expect(isFromFile, "a key is missing in the sample")
    }

    @Test("Lines of the sample are short, and each key has a comment")
    func sampleIsReadable() {
        let lines = SampleConfiguration.text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            #expect(line.count <= 110)
            if line.contains(" = "), !line.hasPrefix("#") { #expect(lines[index - 1].hasPrefix("# "), "\(line)") }
        }
    }

    @Test("The command line beats the environment, which beats the file, which beats the default")
    func precedence() throws {
        let text = "[rabbitmq]\nnamespace = \"file\"\nprefetch = 200\n[retry]\nmax_attempts = 2"
        let environment = ["APUS_RABBITMQ_NAMESPACE": "environment", "APUS_RABBITMQ_PREFETCH": "300"]
        let loaded = try fixture.load(
            text, environment: environment, set: [("rabbitmq.namespace", "flag")], for: .tool)
        #expect(loaded.configuration.rabbitMQ.namespace == "flag")
        #expect(loaded.configuration.rabbitMQ.prefetch == 300)
        #expect(loaded.configuration.retry.attemptsMaximum == 2)
        let origins = Dictionary(uniqueKeysWithValues: loaded.effective.map { ($0.key, $0.origin) })
        #expect(origins["rabbitmq.namespace"] == .flag)
        #expect(origins["rabbitmq.prefetch"] == .environment("APUS_RABBITMQ_PREFETCH"))
        #expect(origins["retry.max_attempts"] == .file(path: "\(fixture.folder.path)/apus.toml", line: 5))
        #expect(origins["retry.max_age"] == .standard)
    }

    @Test("Every kind of value can come as text")
    func valuesAsText() throws {
        let configuration = try fixture.load(
            "",
            environment: [
                "APUS_RETRY_DELAYS": "100ms, 1s,2m", "APUS_WORKER_DECLARE_TOPOLOGY": "true", "APUS_ADMIN_LISTEN": "",
                "APUS_RABBITMQ_URL": "amqps://a:p,q@one:1/v,amqp://b@[::1]/", "APUS_LOG_LEVEL": "debug",
            ], for: .tool
        ).configuration
        #expect(configuration.retry.delays.map(\.milliseconds) == [100, 1_000, 120_000])
        #expect(configuration.worker.declaresTopology)
        #expect(configuration.admin.listen == nil)
        #expect(configuration.rabbitMQ.urls.map(\.revealed) == ["amqps://a:p,q@one:1/v", "amqp://b@[::1]/"])
        #expect(configuration.log.level == .debug)
    }

    @Test("Apps can be changed and added by number")
    func appsByNumber() throws {
        let configuration = try fixture.load(
            ConfigurationFixture.app,
            environment: [
                "APUS_APP_0_APNS_CONNECTIONS": "7", "APUS_APP_1_NAME": "mail",
                "APUS_APP_1_BUNDLE_ID": "com.example.mail",
                "APUS_APP_1_IDENTITY_POOLS": "eu-west-1:0123abcd-0000-0000-0000-000000000000",
                "APUS_APP_1_APNS_KEY_FILE": fixture.keyPath, "APUS_APP_1_APNS_KEY_ID": "AAAAAAAAAA",
            ], set: [("app.1.apns.team_id", "BBBBBBBBBB"), ("app.1.apns.endpoint", "https://[::1]:2197")]
        ).configuration
        #expect(configuration.apps.map(\.name) == ["chat", "mail"])
        #expect(configuration.apps[0].apns?.connections == 7)
        #expect(configuration.apps[1].apns?.teamID == "BBBBBBBBBB")
        #expect(configuration.apps[1].apns?.endpoint == HostPort(host: "::1", port: 2_197))
        #expect(configuration.apps[1].identityPools.count == 1)
    }

    @Test("Relative paths begin at the folder of the file that holds them, others where the process runs")
    func relativePaths() throws {
        let text = ConfigurationFixture.app + "[registry]\nurl = \"sqlite:data/r.db\""
        let fromFile = try fixture.load(text, for: .tool).configuration
        #expect(fromFile.apps[0].apns?.keyFile == "\(fixture.folder.path)/key.p8")
        #expect(fromFile.registry == .sqlite(path: "\(fixture.folder.path)/data/r.db"))
        let environment = ["APUS_REGISTRY_URL": "sqlite:r.db", "APUS_APP_0_APNS_KEY_FILE": "k.p8"]
        let fromEnvironment = try fixture.load(text, environment: environment, for: .tool).configuration
        #expect(fromEnvironment.registry == .sqlite(path: "r.db"))
        #expect(fromEnvironment.apps[0].apns?.keyFile == "k.p8")
        let absolute = try fixture.load("[registry]\nurl = \"sqlite:///var/r.db\"", for: .tool).configuration
        #expect(absolute.registry == .sqlite(path: "/var/r.db"))
        let url = "postgresql://me:pw@db/apus?sslmode=require"
        let postgres = try fixture.load("[registry]\nurl = \"\(url)\"", for: .tool).configuration
        #expect(postgres.registry == .postgres(url: Secret(url)))
    }

    @Test("A secret can be in a file, whose last line end is not part of it", arguments: ["", "\n", "\r\n"])
    func secretInFile(ending: String) throws {
        let file = try fixture.folder.write("secret", "amqp://u:p@h/\(ending)")
        let configuration = try fixture.load("", environment: ["APUS_RABBITMQ_URL_FILE": file], for: .tool)
            .configuration
        #expect(configuration.rabbitMQ.urls == [Secret("amqp://u:p@h/")])
    }

    @Test("An array of URLs is a list of nodes")
    func arrayOfURLs() throws {
        let text = "[rabbitmq]\nurl = [\"amqp://a/\", \"amqp://b/\"]"
        #expect(try fixture.load(text, for: .tool).configuration.rabbitMQ.urls.count == 2)
    }

    @Test("$APUS_CONFIG names the file, unless the command line does")
    func fileFromEnvironment() throws {
        let other = try fixture.folder.write("other.toml", "[rabbitmq]\nnamespace = \"other\"")
        let loader = ConfigurationLoader(path: nil, environment: ["APUS_CONFIG": other])
        #expect(try loader.load(for: .tool).configuration.rabbitMQ.namespace == "other")
        let text = "[rabbitmq]\nnamespace = \"named\""
        #expect(
            try fixture.load(text, environment: ["APUS_CONFIG": other], for: .tool).path?.hasSuffix("apus.toml") == true
        )
    }

    @Test("A tool needs neither an app nor its key")
    func toolsNeedNoKey() throws {
        let text = ConfigurationFixture.app + "key_id_is = 1"
        #expect(throws: ConfigurationError.self) { try fixture.load(text, for: .tool) }
        let absent =
            ConfigurationFixture.app.split(separator: "\n").filter { !$0.hasPrefix("key_file") }
            .joined(separator: "\n") + "\nkey_file = \"absent.p8\"\nca_file = \"absent.pem\""
        #expect(try fixture.load(absent, for: .tool).configuration.apps.count == 1)
        #expect(try fixture.problems(absent).count == 2)
    }
}
