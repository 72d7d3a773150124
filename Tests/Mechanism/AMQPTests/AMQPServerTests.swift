import AMQP
import EventLoop
import Messages
import PushTestKit
import Testing

@Suite("What a broker says of itself")
struct AMQPServerTests {
    @Test("A version is read as far as it is one, whatever follows it")
    func reads() {
        let cases: [(String, AMQPServer.Version?)] = [
            ("3.10.8", .init(3, 10, 8)), ("4.0.0+2", .init(4, 0, 0)), ("4.3.0-rc.1", .init(4, 3, 0)),
            ("4.2", .init(4, 2, 0)), ("5", .init(5, 0, 0)), ("4.x.1", .init(4, 0, 0)), ("", nil), ("v4", nil),
            ("99999999999999999999.1.1", nil), ("4.1.2.9", .init(4, 1, 2)),
        ]
        for (text, version) in cases { #expect(AMQPServer.Version(text) == version, "\(text)") }
        #expect(AMQPServer.Version(3, 9, 30) < AMQPServer.Version(3, 10, 0))
    }

    @Test("A session knows product and version from its login")
    func knows() async throws {
        let broker = try await PrivateRabbitMQ.shared()
        let session = try AMQPSession(AMQPEndpoint(broker.url), options: AMQPOptions())
        defer { session.close() }
        #expect(session.server.isRabbitMQ)
        #expect(session.server.version != nil)
    }

    private final class NoHandler: AMQPConnectionHandler {
        func deliveriesReceived(_ deliveries: [AMQPDelivery]) {}
        func eventsReceived(_ events: [AMQPEvent]) {}
        func connectionLost(_ error: AMQPError) {}
    }

    /// Publishes 120 messages, takes 100, and acknowledges 99 of them.
    private static func connectionWithAcknowledgements(
        _ url: String, _ queue: String, on loop: EventLoop
    ) throws -> AMQPConnection {
        let session = try AMQPSession(AMQPEndpoint(url), options: AMQPOptions())
        let arguments = [
            MessageHeader("x-queue-type", .string("quorum")), MessageHeader("x-delivery-limit", .int64(20)),
        ]
        try session.declareQueue(queue, arguments: arguments)
        try session.enableConfirms()
        let message = Message(properties: MessageProperties(), headers: [], body: [1])
        let failures = try session.publishConfirmed((0..<120).map { _ in (message, "", queue) })
        #expect(failures.allSatisfy { $0 == nil })
        var numbers: [UInt64] = []
        while numbers.count < 100, let taken = try session.get(queue) { numbers.append(taken.delivery.number) }
        // Not the first, and one by one: far more commands than RabbitMQ passes on at once.
        for number in numbers.dropFirst() { try session.acknowledge(number, isMultiple: false) }
        return try AMQPConnection(session, on: loop, handler: NoHandler())
    }

    @Test("Acknowledgements that the channel holds back reach the queue before it closes, and no message is taken")
    func settles() async throws {
        let broker = try await PrivateRabbitMQ.shared()
        let queue = PrivateRabbitMQ.makeNamespace()
        let loop = try EventLoop(name: "settling")
        try await withCheckedThrowingContinuation { continuation in
            loop.submit {
                do {
                    let connection = try Self.connectionWithAcknowledgements(broker.url, queue, on: loop)
                    loop.schedule(afterNanoseconds: connection.settlementNanoseconds) {
                        connection.close(synchronizing: [queue])
                        continuation.resume()
                    }
                } catch { continuation.resume(throwing: error) }
            }
        }
        loop.stopAndJoin()
        #expect(try await broker.messageCount(queue: queue) == 21)
        let other = try AMQPSession(AMQPEndpoint(broker.url), options: AMQPOptions())
        defer { other.close() }
        var redelivered = 0
        while let taken = try other.get(queue) { redelivered += taken.delivery.isRedelivered ? 1 : 0 }
        #expect(redelivered == 1)
        try other.deleteQueue(queue)
    }
}
