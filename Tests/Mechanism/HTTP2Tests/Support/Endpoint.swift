import Crypto
import EventLoop
import HTTP2

/// A client's connection and its probe, for tests that run on other threads.
struct Endpoint: Sendable {
    private final class Content {
        let connection: HTTP2Connection
        let probe: Probe

        init(connection: HTTP2Connection, probe: Probe) {
            self.connection = connection
            self.probe = probe
        }
    }

    private let content: LoopBound<Content>

    private init(_ content: sending Content, loop: EventLoop) { self.content = LoopBound(content, to: loop) }

    /// Opens a connection to a local port.
    static func connect(
        to port: UInt16, context: TLSContext, on loop: EventLoop, serverName: String = "localhost",
        configuration: HTTP2Connection.Configuration = .init(),
        prepare: @escaping @Sendable (Probe) -> Void = { _ in }
    ) async throws -> Endpoint {
        try await loop.run {
            let probe = Probe(loop: loop)
            prepare(probe)
            let connection = try HTTP2Connection(
                client: context, serverName: serverName, socket: try TCPSocket.connect(host: "127.0.0.1", port: port),
                loop: loop, configuration: configuration, handler: probe)
            connection.start()
            return Endpoint(Content(connection: connection, probe: probe), loop: loop)
        }
    }

    /// Runs `work` on the loop.
    @discardableResult
    func run<Result: Sendable>(
        _ work: @escaping @Sendable (HTTP2Connection, Probe) throws -> Result
    ) async throws -> Result {
        try await content.loop.run { [content] in try work(content.value.connection, content.value.probe) }
    }

    /// Runs `work` on the loop, after what was handed to the loop before; does not wait for it.
    func submit(_ work: @escaping @Sendable (HTTP2Connection) -> Void) {
        content.loop.submit { [content] in work(content.value.connection) }
    }

    /// Waits until a condition holds; it is tried after each event.
    func wait(until condition: @escaping @Sendable (Probe) -> Bool) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            content.loop.submit { [content] in content.value.probe.wait(until: condition, continuation) }
        }
    }

    /// Sends one POST request.
    func post(_ path: String, body: [UInt8] = []) async throws -> Int32 {
        try await run { connection, _ in try Self.post(connection, path, body: body) }
    }

    /// Sends one POST request; on the loop.
    static func post(_ connection: HTTP2Connection, _ path: String, body: [UInt8]) throws -> Int32 {
        var headers = HeaderBlock()
        headers.add(":method", value: "POST")
        headers.add(":scheme", value: "https")
        headers.add(":authority", value: "localhost")
        headers.add(":path", value: path, indexing: .neverAdd)
        headers.add("x-length", value: body.count)
        return try connection.submitRequest(headers, body: body)
    }

    /// Waits for the whole response on a stream.
    func response(on stream: Int32) async throws -> Probe.Message {
        try await wait { $0.closedStreams[stream] != nil || $0.closeReason != nil }
        return try await run { _, probe in
            guard let message = probe.messages[stream], message.hasEnded else {
                throw TestFailure(
                    "no response: \(String(describing: probe.closedStreams[stream])), \(probe.closeReasons)")
            }
            return message
        }
    }

    func close() async throws {
        try await run { connection, _ in connection.close() }
        try await wait { $0.closeReason != nil }
    }
}
