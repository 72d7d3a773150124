import APNsTransport
import JSON
import PushTestKit
import ServiceClient
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("Secrets stay secret")
struct SecretTests {
    @Test("No way of printing a configuration shows a password")
    func nothingPrintsIt() throws {
        let fixture = try ConfigurationFixture()
        let text =
            "[rabbitmq]\nurl = [\"amqp://me:s3cr3t@h/\", \"amqps://me:s3cr3t%40@i:1/v\"]\n" + ConfigurationFixture.app
        let loaded = try fixture.load(text)
        var dumped = ""
        dump(loaded, to: &dumped)
        for printed in [
            "\(loaded)", String(reflecting: loaded), dumped, loaded.effectiveText, loaded.effectiveJSON,
            "\(loaded.warnings)",
        ] {
            #expect(!printed.contains("s3cr3t"), "\(printed)")
        }
        #expect(loaded.effectiveText.contains("amqp://me:[redacted]@h/"))
        #expect(loaded.effectiveText.contains("amqps://me:[redacted]@i:1/v"))
    }

    @Test("No way of printing a PostgreSQL URL shows a password, wherever it stands in it")
    func nothingPrintsThatOfPostgres() throws {
        let fixture = try ConfigurationFixture()
        let query = "?password=s3cr3t&sslmode=require&sslpassword=s3cr3t"
        for url in ["postgresql://me:s3cr3t@h/d", "postgresql://h/d\(query)", "postgres://me:s3cr3t@h/d\(query)"] {
            let loaded = try fixture.load(ConfigurationFixture.app + "[registry]\nurl = \"\(url)\"")
            var dumped = ""
            dump(loaded, to: &dumped)
            let printed = "\(loaded) \(loaded.effectiveText) \(loaded.effectiveJSON) \(loaded.warnings) \(dumped)"
            #expect(!printed.contains("s3cr3t"), "\(printed)")
            #expect(loaded.effectiveText.contains("h/d"))
            #expect(loaded.effectiveText.contains("sslmode=require") == url.contains("sslmode=require"))
        }
    }

    @Test(
        "No complaint about a URL shows its password",
        arguments: [
            "amqp://me:s3cr3t@h:99999/", "http://me:s3cr3t@h/", "amqp://me:s3cr3t@x@h/", "amqp://me:s3cr3t/x@h/",
            "me:s3cr3t@h", "amqp://me:s3cr3t%@h/", "amqp://me:s3cr3t%+f@h/", "s3cr3t", "amqp//me:s3cr3t@h",
        ])
    func noComplaintShowsIt(url: String) throws {
        let fixture = try ConfigurationFixture()
        for text in ["url = \"\(url)\"", "url = [1, \"\(url)\"]", "url = {a = \"\(url)\"}"] {
            let problems = try fixture.problems("[rabbitmq]\n" + text)
            #expect(!problems.isEmpty)
            #expect(!"\(problems)".contains("s3cr3t"), "\(problems)")
        }
    }

    @Test("The effective configuration is JSON with key, value and origin")
    func effectiveJSON() throws {
        let fixture = try ConfigurationFixture()
        let json = try fixture.load(ConfigurationFixture.app).effectiveJSON
        #expect(throws: Never.self) { try JSONParser().parse(json) }
        #expect(json.contains(#"{"key":"rabbitmq.prefetch","value":1000,"origin":"default"}"#))
    }

    @Test("A proxy's password is read from each source, and shown nowhere")
    func hidesTheProxy() throws {
        let fixture = try ConfigurationFixture()
        let file = try fixture.folder.write("proxy", "http://me:s3cr3t@proxy.example:3128\n")
        let sources: [(text: String, environment: [String: String])] = [
            (ConfigurationFixture.app + "proxy = \"http://me:s3cr3t@proxy.example:3128\"\n", [:]),
            (ConfigurationFixture.app, ["APUS_APP_0_APNS_PROXY": "http://me:s3cr3t@proxy.example:3128"]),
            (ConfigurationFixture.app, ["APUS_APP_0_APNS_PROXY_FILE": file]),
        ]
        for source in sources {
            let loaded = try fixture.load(source.text, environment: source.environment)
            #expect(loaded.configuration.apps[0].apns?.proxy?.revealed == "http://me:s3cr3t@proxy.example:3128")
            let client = try loaded.configuration.apnsClient()
            #expect(client.routes.allSatisfy { $0.serviceRoute.proxy?.description == "proxy.example:3128" })
            var dumped = ""
            dump(loaded, to: &dumped)
            dump(client, to: &dumped)
            for printed in ["\(loaded)", dumped, loaded.effectiveText, loaded.effectiveJSON] {
                #expect(!printed.contains("s3cr3t"), "\(printed)")
            }
            #expect(loaded.effectiveText.contains("http://me:[redacted]@proxy.example:3128"))
        }
        for url in ["https://me:s3cr3t@h", "http://me:s3cr3t@h:0", "s3cr3t"] {
            let problems = try fixture.problems(ConfigurationFixture.app + "proxy = \"\(url)\"\n")
            #expect(problems.count == 1)
            #expect(!"\(problems)".contains("s3cr3t"), "\(problems)")
        }
    }

    @Test("Apple's other port is used for Apple's own hosts, and an endpoint keeps its own")
    func usesTheOtherPort() throws {
        let fixture = try ConfigurationFixture()
        let apple = try fixture.load(ConfigurationFixture.app + "port = 2197\n").configuration.apnsClient()
        #expect(
            apple.routes.map(\.serviceRoute.endpoint) == ["api.push.apple.com:2197", "api.sandbox.push.apple.com:2197"])
        let other = ConfigurationFixture.app + "port = 2197\nendpoint = \"127.0.0.1:8443\"\n"
        #expect(try fixture.load(other).configuration.apnsClient().routes[0].serviceRoute.endpoint == "127.0.0.1:8443")
        let standard = try fixture.load(ConfigurationFixture.app).configuration.apnsClient()
        #expect(standard.routes[0].serviceRoute.endpoint == "api.push.apple.com:443")
    }

    @Test("A file of the credentials' folder is what the variable names; a variable that is set wins over it")
    func credentials() throws {
        let fixture = try ConfigurationFixture()
        let credentials = try TemporaryFolder()
        let key = try credentials.write("APUS_APP_0_APNS_KEY", fixture.folder.read("key.p8"))
        try credentials.write("APUS_RABBITMQ_URL", "amqp://apus:s3cr3t@broker.example/\n")
        try credentials.write("APUS_REGISTRY_URL", "sqlite:/never/used")
        try credentials.write("other", "of another program")
        let loaded = try fixture.load(
            ConfigurationFixture.app.replacing("key_file = \"key.p8\"\n", with: ""),
            environment: ["CREDENTIALS_DIRECTORY": credentials.path, "APUS_REGISTRY_URL": "sqlite:/used"])
        #expect(loaded.configuration.apps[0].apns?.keyFile == key)
        #expect(loaded.configuration.rabbitMQ.urls.map(\.revealed) == ["amqp://apus:s3cr3t@broker.example/"])
        #expect(loaded.effectiveText.contains("sqlite:/used"))
        #expect(loaded.warnings == [])
        #expect(!loaded.effectiveText.contains("s3cr3t"))
    }

    @Test("A credential that no key has is a warning, and a folder that is not there is none")
    func unknownCredential() throws {
        let fixture = try ConfigurationFixture()
        let credentials = try TemporaryFolder()
        try credentials.write("APUS_RABBITMQ_URI", "amqp://h")
        let quiet = "[rabbitmq]\nurl = \"amqp://apus:secret@h/\"\n" + ConfigurationFixture.app
        let loaded = try fixture.load(quiet, environment: ["CREDENTIALS_DIRECTORY": credentials.path])
        #expect(loaded.warnings.map(\.origin) == [.environment("APUS_RABBITMQ_URI_FILE")])
        let missing = try fixture.load(quiet, environment: ["CREDENTIALS_DIRECTORY": credentials.path + "/missing"])
        #expect(missing.warnings == [])
    }
}
