import AMQP
import EventLoop
import Glibc
import Messages
import PushTestKit
import Testing

@Suite("A connection on an event loop")
struct AMQPConnectionTests {
    /// Collects what a connection hands over; lives on the loop.
    private final class Collector: AMQPConnectionHandler {
        let bodies: Watched<[[UInt8]]>
        var connection: AMQPConnection?

        init(_ bodies: Watched<[[UInt8]]>) { self.bodies = bodies }

        func deliveriesReceived(_ deliveries: [AMQPDelivery]) {
            bodies.update { $0 += deliveries.map(\.message.body) }
        }
        func eventsReceived(_ events: [AMQPEvent]) {}
        func connectionLost(_ error: AMQPError) { bodies.update { $0.append(Array("lost: \(error)".utf8)) } }
    }

    @Test("A signal that interrupts the idle loop neither ends the connection nor keeps it from what comes next")
    func survivesSignals() async throws {
        let url = try await PrivateRabbitMQ.shared().url
        let queue = "\(PrivateRabbitMQ.makeNamespace()).signals"
        let bodies = Watched<[[UInt8]]>([])
        let loop = try EventLoop(name: "signals")
        let collector = LoopBound(Collector(bodies), to: loop)
        // Without SA_RESTART, so that whatever waits returns EINTR.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGUSR1, &action, nil)
        let thread = try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(url), options: AMQPOptions())
            try session.declareQueue(queue)
            try session.consume(queue, tag: "signals")
            collector.value.connection = try AMQPConnection(session, on: loop, handler: collector.value)
            return UInt(pthread_self())
        }
        for round in 0..<20 {
            for _ in 0..<10 { pthread_kill(pthread_t(thread), SIGUSR1) }
            try await AMQPSessionTests.withSession { session in
                _ = try session.publish(
                    Message(body: [UInt8(round)]), exchange: "", routingKey: queue, isMandatory: true)
            }
            #expect(await bodies.wait { $0.count == round + 1 })
        }
        #expect(bodies.value == (0..<20).map { [UInt8($0)] })
        try await loop.run {
            collector.value.connection?.close()
            collector.value.connection = nil
        }
        loop.stopAndJoin()
        try await AMQPSessionTests.withSession { try $0.deleteQueue(queue) }
    }
}
