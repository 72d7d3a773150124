import Crypto
import EventLoop
import HTTP2
import PushTestKit

/// The part of the scripted peer that lives on its loop.
final class PeerCore {
    let loop: EventLoop
    let script: PeerScript
    private let context: TLSContext
    private let facts: Watched<PeerFacts>
    private var listener: TCPListener?
    private(set) var connections: [PeerConnection] = []
    private var nextNumber = 0

    init(loop: EventLoop, script: PeerScript, context: TLSContext, facts: Watched<PeerFacts>) {
        self.loop = loop
        self.script = script
        self.context = context
        self.facts = facts
    }

    func record(_ change: (inout PeerFacts) -> Void) { facts.update(change) }

    func listen(port: UInt16) throws -> UInt16 {
        let listener = try TCPListener(host: "127.0.0.1", port: port, loop: loop) { [self] in accept($0) }
        self.listener = listener
        return listener.port
    }

    func closed(_ connection: PeerConnection) {
        connections.removeAll { $0 === connection }
        record { $0.openConnectionCount = connections.count }
    }

    func stop() {
        listener?.close()
        listener = nil
        for connection in connections { connection.http?.close() }
    }

    private func accept(_ socket: Int32) {
        let connection = PeerConnection(number: nextNumber, peer: self)
        nextNumber += 1
        var configuration = HTTP2Connection.Configuration()
        configuration.maxConcurrentStreams = script.streamsMaximum
        configuration.connectionWindowBytes = script.windowBytes
        configuration.opensWindows = script.opensWindows
        guard
            let http = try? HTTP2Connection(
                server: context, socket: socket, loop: loop, configuration: configuration, handler: connection)
        else { return }
        connections.append(connection)
        record { $0.openConnectionCount = connections.count }
        connection.started(http)
        http.start()
    }
}
