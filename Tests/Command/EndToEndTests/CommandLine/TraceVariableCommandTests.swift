import PushTestKit
import Testing

@Suite("OpenTelemetry's variables on the command line")
struct TraceVariableCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "amqp://127.0.0.1:1"
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            [app.adm]
            client_id = "client"
            client_secret = "s3cr3t"
            """)
    }

    @Test("A value that cannot be used ends the worker and the check before they begin", arguments: ["run", "check"])
    func bad(_ command: String) async throws {
        let variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        ]
        let result = try await CommandRunner.apus([command], environment: variables, in: folder)
        #expect(result.exitCode == 78, "\(result)")
        #expect(
            result.errors.hasSuffix(
                "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\"; it must be http/protobuf, the only protocol of this program;"
                    + " collectors serve it at port 4318\n"),
            "\(result)")
    }

    @Test("Without an address, or with values that can be used, the check passes")
    func good() async throws {
        for variables in [
            ["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"],
        ] {
            let result = try await CommandRunner.apus(["check"], environment: variables, in: folder)
            #expect(result.exitCode == 0, "\(result)")
        }
    }
}
