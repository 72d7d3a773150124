import AMQP
import EventLoop
import PushTestKit

/// A peer that speaks as much AMQP 0-9-1 as a consumer or a publisher asks for, and behaves as RabbitMQ does.
///
/// Every queue and exchange exists, except a second work queue. The work queue delivers one message to each consumer
/// until a consumer acknowledges it.
final class ScriptedBroker: Sendable {
    /// The differences between versions that the tests set.
    struct Script: Sendable {
        var version: String
        /// How the names of queues and exchanges end that the user may not look at.
        var unseenSuffixes: [String] = []
        /// Whether the first consumer of the work queue holds its delivery for too long.
        var timesFirstConsumerOut = false
        /// After how many publishes the first channel is closed, and the first of them confirmed in the same breath.
        var publishesOnFirstChannel = Int.max
    }

    /// The observations of the client's behaviour.
    struct Facts: Sendable {
        var connectionCount = 0
        var consumedQueues: [String] = []
        /// The connection and the number of each delivery that was acknowledged.
        var acknowledged: [[UInt64]] = []
        /// How many messages were published after a channel had been closed, on the same connection.
        var publishesAfterClose = 0
    }

    let port: UInt16
    let facts = Watched(Facts())
    private let loop: EventLoop
    private let listener: LoopBound<TCPListener>

    init(_ script: Script) async throws {
        let loop = try EventLoop(name: "broker")
        self.loop = loop
        let facts = facts
        listener = try await loop.run {
            let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { socket in
                facts.update { $0.connectionCount += 1 }
                ScriptedBrokerConnection(
                    number: facts.value.connectionCount, script: script, facts: facts, loop: loop
                ).start(socket)
            }
            return LoopBound(listener, to: loop)
        }
        port = try await loop.run { [listener] in listener.value.port }
    }

    var url: String { "amqp://guest:guest@127.0.0.1:\(port)/" }

    func stop() async throws {
        try await loop.run { [listener] in listener.value.close() }
        loop.stopAndJoin()
    }
}
