import PushTestKit
import Testing

extension WorkerFixture {
    /// A fixture with a node of its own, whose management API the configuration names.
    static func withManagementAPI() async throws -> WorkerFixture {
        let port = try FreePorts.find(1)[0]
        let broker = try await PrivateRabbitMQ.start(
            configuration: "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = \(port)",
            plugins: PrivateRabbitMQ.standardPlugins + ["rabbitmq_management"])
        let fixture = try await WorkerFixture(broker: broker)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            written.replacing("namespace = ", with: "management_url = \"http://127.0.0.1:\(port)\"\nnamespace = "))
        return fixture
    }

    /// The port of the management API.
    var managementPort: UInt16 {
        get throws {
            let text = try folder.read("apus.toml").split(separator: "management_url = \"http://127.0.0.1:").last
            return try #require(UInt16(text?.prefix { $0.isNumber } ?? ""))
        }
    }

    /// Runs a command again until it writes a text: RabbitMQ tells its API of a policy only every five seconds.
    func apus(_ arguments: String..., sayingInTheEnd text: String) async throws -> CommandResult {
        try await eventually("apus \(arguments) to say '\(text)'") {
            try await CommandRunner.apus(arguments, in: folder)
        } until: {
            $0.output.contains(text)
        }
    }
}
