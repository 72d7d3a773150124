import PushTestKit
import Testing

/// A folder with a configuration for a namespace of the shared broker, and what commands about the broker need.
struct BrokerFolder {
    let folder: TemporaryFolder
    let broker: PrivateRabbitMQ
    let namespace = PrivateRabbitMQ.makeNamespace()

    /// Writes the configuration.
    ///
    /// - Parameter isApplied: whether the topology is there.
    /// - Throws: whatever the broker or the command throws.
    init(isApplied: Bool = true) async throws {
        folder = try TemporaryFolder()
        broker = try await PrivateRabbitMQ.shared()
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "\(broker.url)"
            namespace = "\(namespace)"
            [retry]
            delays = ["1s", "1m"]
            """)
        if isApplied {
            let applied = try await apus("topology", "apply")
            try #require(applied.exitCode == 0, "\(applied)")
        }
    }

    /// Runs a command of `apus` to its end.
    @discardableResult
    func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        try await CommandRunner.apus(arguments, input: input, in: folder)
    }

    /// How many messages a queue of the namespace holds.
    func messageCount(_ queue: String) async throws -> Int? {
        try await broker.messageCount(queue: "\(namespace).\(queue)")
    }

    /// Waits until a queue of the namespace holds so many messages.
    func waitForMessages(_ count: Int, in queue: String) async throws {
        try await eventually("the messages in \(queue)", equals: count) { try await messageCount(queue) }
    }
}
