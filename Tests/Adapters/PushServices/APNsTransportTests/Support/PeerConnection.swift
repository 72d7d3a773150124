import Crypto
import EventLoop
import HTTP2
import PushTestKit

/// One connection of the scripted peer, on its loop.
final class PeerConnection: HTTP2Handler {
    let number: Int
    private let peer: PeerCore
    private var requests: [Int32: PeerRequest] = [:]
    private(set) var http: HTTP2Connection?
    /// Requests that are complete and not answered.
    private(set) var open: Set<Int32> = []
    /// Requests that a script keeps back.
    var held: [PeerRequest] = []
    private(set) var answeredCount = 0
    private(set) var requestCount = 0

    init(number: Int, peer: PeerCore) {
        self.number = number
        self.peer = peer
    }

    func started(_ http: HTTP2Connection) { self.http = http }

    /// Answers a request as APNs does: an accepted push with headers only, a rejected one with a body.
    func answer(
        _ request: PeerRequest, status: Int = 200, body: String = "", fields: [(StaticString, String)] = []
    ) {
        guard open.remove(request.stream) != nil else { return }
        answeredCount += 1
        var headers = HeaderBlock()
        headers.add(":status", value: status)
        headers.add("apns-id", value: request.identifier)
        for (name, value) in fields { headers.add(name, value: value) }
        try? http?.submitResponse(stream: request.stream, headers, body: Array(body.utf8))
    }

    /// Rejects a request with a reason.
    func reject(_ request: PeerRequest, status: Int, reason: String) {
        answer(request, status: status, body: "{\"reason\":\"\(reason)\"}")
    }

    func reset(_ request: PeerRequest, errorCode: UInt32) {
        open.remove(request.stream)
        http?.resetStream(request.stream, errorCode: errorCode)
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        let name = String(decoding: name, as: UTF8.self)
        requests[stream, default: PeerRequest(connection: number, stream: stream)].headers[name] =
            String(decoding: value, as: UTF8.self)
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        requests[stream]?.body += bytes
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        guard let request = requests.removeValue(forKey: stream) else { return }
        open.insert(stream)
        requestCount += 1
        peer.record { facts in
            facts.openMaximum = max(facts.openMaximum, open.count)
            if answeredCount == 0 {
                facts.openBeforeFirstAnswerMaximum = max(facts.openBeforeFirstAnswerMaximum, open.count)
            }
            facts.authorizations.insert(request.headers["authorization"] ?? "")
            facts.requestCount += 1
        }
        peer.script.onRequest(self, request)
    }

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        requests[stream] = nil
        open.remove(stream)
        if errorCode != 0 { peer.record { $0.resetCodes.append(errorCode) } }
    }

    func http2Ready(_ connection: HTTP2Connection) {
        peer.record { $0.connectionCount += 1 }
        peer.script.onConnect(self)
    }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        http = nil
        peer.closed(self)
    }
}

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
