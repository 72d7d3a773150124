import PushTestKit
import Testing

@Suite("The private RabbitMQ node")
struct PrivateRabbitMQTests {
    @Test("A node starts, obeys rabbitmqctl, survives a kill with its data and leaves when it is stopped")
    func startsAndRestarts() async throws {
        let node = try await PrivateRabbitMQ.start()
        try await node.control("add_vhost", "kept")
        try node.kill()
        try await node.startAgain()
        #expect(try await node.control("list_vhosts").contains("kept"))
        node.stop()
    }
}
