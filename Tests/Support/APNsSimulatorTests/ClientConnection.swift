import Crypto
import EventLoop
import HTTP2

/// The client's connection to the simulator, on its loop.
final class ClientConnection: HTTP2Handler {
    private struct Exchange {
        var status = 0
        var apnsID = ""
        var contentType: String?
        var body: [UInt8] = []
        var completed: (ClientResponse) -> Void
    }

    private let loop: EventLoop
    private let ready: (Bool) -> Void
    private var connection: HTTP2Connection?
    private var exchanges: [Int32: Exchange] = [:]
    private var isReady = false

    /// The stream limits that the server announced, in order.
    private(set) var streamLimits: [UInt32] = []
    /// How often another limit is waited for.
    private var limitWaiters: [(count: Int, resume: () -> Void)] = []

    init(port: UInt16, tls: TLSContext, loop: EventLoop, ready: @escaping (Bool) -> Void) throws {
        self.loop = loop
        self.ready = ready
        let connection = try HTTP2Connection(
            client: tls, serverName: "localhost", socket: try TCPSocket.connect(host: "127.0.0.1", port: port),
            loop: loop, handler: self)
        self.connection = connection
        connection.start()
    }

    func send(_ headers: [(String, String)], body: [UInt8], completed: @escaping (ClientResponse) -> Void) -> Int32? {
        guard let connection else {
            completed(.closed)
            return nil
        }
        var block = HeaderBlock()
        for (name, value) in headers { Self.add(name, value, to: &block) }
        guard let stream = try? connection.submitRequest(block, body: body) else {
            completed(.closed)
            return nil
        }
        exchanges[stream] = Exchange(completed: completed)
        return stream
    }

    /// The names of a block are constants, so each name that tests use stands here.
    private static func add(_ name: String, _ value: String, to block: inout HeaderBlock) {
        switch name {
        case ":method": block.add(":method", value: value)
        case ":scheme": block.add(":scheme", value: value)
        case ":authority": block.add(":authority", value: value)
        case ":path": block.add(":path", value: value)
        case "authorization": block.add("authorization", value: value)
        case "apns-id": block.add("apns-id", value: value)
        case "apns-expiration": block.add("apns-expiration", value: value)
        case "apns-priority": block.add("apns-priority", value: value)
        case "apns-push-type": block.add("apns-push-type", value: value)
        case "apns-topic": block.add("apns-topic", value: value)
        case "apns-collapse-id": block.add("apns-collapse-id", value: value)
        default: block.add("content-type", value: value)
        }
    }

    func reset(_ stream: Int32) { connection?.resetStream(stream, errorCode: 8) }

    func close() { connection?.close() }

    func whenLimitsCount(_ count: Int, resume: @escaping () -> Void) {
        if streamLimits.count >= count { return resume() }
        limitWaiters.append((count, resume))
    }

    // MARK: HTTP2Handler

    func http2Ready(_ connection: HTTP2Connection) {
        isReady = true
        ready(true)
    }

    func http2SettingsReceived(_ connection: HTTP2Connection) {
        streamLimits.append(connection.peerMaxConcurrentStreams)
        let reached = limitWaiters.filter { $0.count <= streamLimits.count }
        limitWaiters.removeAll { $0.count <= streamLimits.count }
        for waiter in reached { waiter.resume() }
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case ":status": exchanges[stream]?.status = Int(text) ?? -1
        case "apns-id": exchanges[stream]?.apnsID = text
        case "content-type": exchanges[stream]?.contentType = text
        default: return
        }
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        exchanges[stream]?.body.append(contentsOf: bytes)
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        guard let exchange = exchanges.removeValue(forKey: stream) else { return }
        exchange.completed(
            .answered(
                status: exchange.status, apnsID: exchange.apnsID, contentType: exchange.contentType,
                body: String(decoding: exchange.body, as: UTF8.self)))
    }

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        exchanges.removeValue(forKey: stream)?.completed(.reset(errorCode))
    }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        if !isReady { ready(false) }
        for exchange in exchanges.values { exchange.completed(.closed) }
        exchanges = [:]
        for waiter in limitWaiters { waiter.resume() }
        limitWaiters = []
        self.connection = nil
    }
}
