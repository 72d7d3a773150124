import PushTestKit

/// The broker that fault tests stop, flood and kill; they run one after the other.
enum FaultBroker {
    private static let node = Task { try await PrivateRabbitMQ.start() }

    static func shared() async throws -> PrivateRabbitMQ { try await node.value }
}
