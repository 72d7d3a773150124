import AMQP
import Messages
import PushTestKit
import Testing

@Suite("TLS to the broker")
struct TLSTests {
    @Test("A broker whose certificate is trusted and fits the name is talked to; any other is refused")
    func verifies() async throws {
        let certificate = try await RabbitMQCertificate.make(host: "localhost")
        let other = try await RabbitMQCertificate.make(host: "other.example.com")
        defer {
            certificate.remove()
            other.remove()
        }
        let broker = try await PrivateRabbitMQ.start(certificate: certificate)
        defer { broker.stop() }
        let port = try #require(broker.tlsPort)
        let wrongHost = try PrivateTLSServer(certificate: other)

        try await connect("amqps://guest:guest@localhost:\(port)/", caFile: certificate.certificateFile)
        let cases: [(url: String, caFile: String, code: AMQPError.Code, text: String)] = [
            ("amqps://localhost:\(port)/", other.certificateFile, .tlsFailed, "is refused: self-signed certificate"),
            ("amqps://localhost:\(port)/", "", .tlsFailed, "is refused: self-signed certificate"),
            ("amqps://localhost:\(port)/", "/nonexistent", .tlsFailed, "/nonexistent cannot be read"),
            ("amqps://localhost:\(wrongHost.port)/", other.certificateFile, .tlsFailed, "not for the name localhost"),
            ("amqps://127.0.0.1:\(port)/", certificate.certificateFile, .invalid, "use the DNS name"),
            ("amqps://localhost:\(broker.port)/", certificate.certificateFile, .tlsFailed, "does that port speak TLS"),
        ]
        for (url, caFile, code, text) in cases {
            let error = await #expect(throws: AMQPError.self) { try await connect(url, caFile: caFile) }
            #expect(error?.code == code, "\(url)")
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    /// Sends a message of many frames and gets it back, so that records and frames do not coincide.
    private func connect(_ url: String, caFile: String) async throws {
        var options = AMQPOptions()
        options.caFile = caFile
        try await AMQPSessionTests.withSession(url: url, options: options) { session in
            try session.declareQueue("tls")
            try session.enableConfirms()
            let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) }
            #expect(try session.publishConfirmed([(Message(body: body), "", "tls")]) == [nil])
            #expect(try session.get("tls")?.delivery.message.body == body)
        }
    }
}
