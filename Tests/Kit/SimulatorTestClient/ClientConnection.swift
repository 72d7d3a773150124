import Crypto
import EventLoop
import HTTP2

/// The client's connection to the simulator, on its loop.
final class ClientConnection: HTTP2Handler {
    private struct Exchange {
        var answer = ClientAnswer()
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
    private var goodbye: ClientGoAway?
    private var goodbyeWaiters: [(ClientGoAway?) -> Void] = []
    private var endWaiters: [() -> Void] = []

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
        case "ttl": block.add("ttl", value: value)
        case "urgency": block.add("urgency", value: value)
        case "topic": block.add("topic", value: value)
        case "content-encoding": block.add("content-encoding", value: value)
        default: block.add("content-type", value: value)
        }
    }

    func reset(_ stream: Int32) { connection?.resetStream(stream, errorCode: 8) }

    func close() { connection?.close() }

    func whenLimitsCount(_ count: Int, resume: @escaping () -> Void) {
        if streamLimits.count >= count { return resume() }
        limitWaiters.append((count, resume))
    }

    func whenEnding(_ resume: @escaping (ClientGoAway?) -> Void) {
        if goodbye != nil || connection == nil { return resume(goodbye) }
        goodbyeWaiters.append(resume)
    }

    func whenClosed(_ resume: @escaping () -> Void) {
        if connection == nil { return resume() }
        endWaiters.append(resume)
    }

    private func resumeGoodbyes() {
        for resume in goodbyeWaiters { resume(goodbye) }
        goodbyeWaiters = []
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
        let name = String(decoding: name, as: UTF8.self)
        if name == ":status" {
            exchanges[stream]?.answer.status = Int(text) ?? -1
        } else {
            exchanges[stream]?.answer.headers[name] = text
        }
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        exchanges[stream]?.answer.bytes.append(contentsOf: bytes)
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        guard let exchange = exchanges.removeValue(forKey: stream) else { return }
        exchange.completed(.answered(exchange.answer))
    }

    func http2GoAwayReceived(
        _ connection: HTTP2Connection, lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]
    ) {
        goodbye = ClientGoAway(
            lastStream: lastStreamID, errorCode: errorCode, debugText: String(decoding: debugData, as: UTF8.self))
        resumeGoodbyes()
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
        resumeGoodbyes()
        for resume in endWaiters { resume() }
        endWaiters = []
    }
}

/// An answer as it came over the wire.
public struct ClientAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status = 0
    /// The other headers.
    public var headers: [String: String] = [:]
    /// The body.
    public var bytes: [UInt8] = []
}

/// A GOAWAY as it came over the wire.
public struct ClientGoAway: Sendable, Equatable {
    /// The last stream that the server says it has processed.
    public var lastStream: Int32
    /// The error code, from RFC 9113 section 7.
    public var errorCode: UInt32
    /// The debug data as text.
    public var debugText: String
}

/// How a request ended for the test's client.
public enum ClientResponse: Sendable, Equatable {
    /// It was answered.
    case answered(ClientAnswer)
    /// The stream was reset, with the code of RFC 9113, section 7.
    case reset(UInt32)
    /// The connection ended first.
    case closed

    /// The answer, or nil if there was none.
    public var answer: ClientAnswer? {
        guard case .answered(let answer) = self else { return nil }
        return answer
    }

    /// The status, or nil if there was no answer.
    public var status: Int? { answer?.status }

    /// The body, or nil if there was no answer.
    public var body: String? { answer.map { String(decoding: $0.bytes, as: UTF8.self) } }

    /// A header, or nil if there was no answer or it does not have it.
    public func header(_ name: String) -> String? { answer?.headers[name] }
}

/// A request as it goes over the wire.
public struct WireRequest: Sendable {
    /// The headers in their order.
    public var headers: [(String, String)]
    /// The body.
    public var body: [UInt8]

    /// Creates a request.
    public init(headers: [(String, String)], body: [UInt8]) {
        self.headers = headers
        self.body = body
    }

    /// The request with a header changed or, if the value is nil, left out.
    public func with(_ name: String, _ value: String?) -> WireRequest {
        var copy = self
        copy.headers = headers.compactMap { header in header.0 == name ? value.map { (name, $0) } : header }
        return copy
    }
}
