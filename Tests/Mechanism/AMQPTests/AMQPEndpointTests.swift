import AMQP
import Testing

@Suite("The broker's address")
struct AMQPEndpointTests {
    @Test("Every part but the scheme is optional")
    func fillsInDefaults() throws {
        let plain = try AMQPEndpoint("amqp://")
        #expect((plain.host, plain.port, plain.user, plain.password) == ("localhost", 5_672, "guest", "guest"))
        #expect(plain.virtualHost == "/")
        #expect(!plain.usesTLS)
        let secure = try AMQPEndpoint("AMQPS://broker.example.com")
        #expect((secure.host, secure.port, secure.usesTLS) == ("broker.example.com", 5_671, true))
    }

    @Test("User, password, host and virtual host are percent-decoded")
    func decodes() throws {
        let endpoint = try AMQPEndpoint("amqp://us%65r:p%40ss%3A%2F@ho%73t:10000/v%2fhost?heartbeat=5")
        #expect((endpoint.user, endpoint.password, endpoint.host) == ("user", "p@ss:/", "host"))
        #expect((endpoint.port, endpoint.virtualHost) == (10_000, "v/host"))
    }

    @Test("An IPv6 address stands in brackets")
    func readsAddresses() throws {
        let endpoint = try AMQPEndpoint("amqp://a:b@[::1]:5673/x")
        #expect((endpoint.host, endpoint.port, endpoint.virtualHost) == ("::1", 5_673, "x"))
        #expect("\(endpoint)" == "amqp://a@[::1]:5673/x")
    }

    @Test("The description never shows the password")
    func redacts() throws {
        #expect("\(try AMQPEndpoint("amqp://worker:secret@h:1/"))" == "amqp://worker@h:1/")
    }

    @Test(
        "A broken address is refused with the part that is wrong, and without its password",
        arguments: [
            "http://h/", "amqp://h:0/", "amqp://h:65536/", "amqp://u:secret@h:x/", "amqp://u:secret%4@h/",
            "amqp://u:secret%zz@h/", "amqp://[::1/", "amqp://[::1]x/", "amqp://h/%ff", "amqp://u%00:secret@h/", "",
        ])
    func refuses(_ text: String) {
        let error = #expect(throws: AMQPError.self) { try AMQPEndpoint(text) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("secret") == false)
    }
}
