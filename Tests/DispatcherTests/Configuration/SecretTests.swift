import Dispatcher
import JSON
import PushTestKit
import Testing

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

    @Test(
        "No complaint about a URL shows its password",
        arguments: [
            "amqp://me:s3cr3t@h:99999/", "http://me:s3cr3t@h/", "amqp://me:s3cr3t@x@h/", "amqp://me:s3cr3t/x@h/",
            "me:s3cr3t@h", "amqp://me:s3cr3t%@h/", "s3cr3t", "amqp//me:s3cr3t@h",
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
}
