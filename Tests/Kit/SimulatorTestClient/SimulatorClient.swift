import Crypto
import EventLoop
import Foundation

/// A client of a simulator, over real TLS and HTTP/2.
public final class SimulatorClient: Sendable {
    /// The client was not let in.
    public struct NotConnected: Error {}

    private let loop: EventLoop
    private let connection: LoopBound<ClientConnection>

    private init(loop: EventLoop, connection: LoopBound<ClientConnection>) {
        self.loop = loop
        self.connection = connection
    }

    /// Connects to a simulator and waits for its SETTINGS.
    ///
    /// - Parameters:
    ///   - port: where it listens.
    ///   - trustAnchorPEM: its certificate.
    /// - Returns: the client.
    /// - Throws: `NotConnected` if it ends the connection before HTTP/2 begins.
    public static func connect(port: UInt16, trustAnchorPEM: String) async throws -> SimulatorClient {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pem")
        try trustAnchorPEM.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let tls = try TLSContext.client(extraTrustAnchorsFile: file.path, applicationProtocols: ["h2"])
        let loop = try EventLoop(name: "simulator-client")
        let (readiness, announcement) = AsyncStream.makeStream(of: Bool.self)
        let connection = try await loop.run {
            LoopBound(
                try ClientConnection(port: port, tls: tls, loop: loop) { announcement.yield($0) }, to: loop)
        }
        guard await readiness.first(where: { _ in true }) == true else {
            loop.stopAndJoin()
            throw NotConnected()
        }
        return SimulatorClient(loop: loop, connection: connection)
    }

    /// Sends one request and waits for its end.
    public func send(_ request: WireRequest) async -> ClientResponse { await send([request])[0] }

    /// Sends several requests in one tick and waits for the end of all.
    public func send(_ requests: [WireRequest]) async -> [ClientResponse] {
        let (ends, announcement) = AsyncStream.makeStream(of: (Int, ClientResponse).self)
        loop.submit { [connection] in
            for (index, request) in requests.enumerated() {
                _ = connection.value.send(request.headers, body: request.body) { announcement.yield((index, $0)) }
            }
        }
        var responses = [ClientResponse](repeating: .closed, count: requests.count)
        var count = 0
        for await (index, response) in ends {
            responses[index] = response
            count += 1
            if count == requests.count { break }
        }
        return responses
    }

    /// Sends a request without waiting for its answer, and returns its stream.
    public func sendWithoutWaiting(_ request: WireRequest) async throws -> Int32? {
        try await loop.run { [connection] in connection.value.send(request.headers, body: request.body) { _ in } }
    }

    /// Gives a request up.
    public func reset(_ stream: Int32) async throws {
        try await loop.run { [connection] in connection.value.reset(stream) }
    }

    /// Waits until the server has said goodbye, and tells how; nil if the connection ended without.
    public func goAway() async -> ClientGoAway? {
        await withCheckedContinuation { continuation in
            loop.submit { [connection] in
                connection.value.whenEnding { continuation.resume(returning: $0) }
            }
        }
    }

    /// Waits until the connection has ended.
    public func end() async {
        await withCheckedContinuation { continuation in
            loop.submit { [connection] in connection.value.whenClosed { continuation.resume() } }
        }
    }

    /// Waits until the server has announced as many stream limits, and names them.
    public func streamLimits(count: Int) async -> [UInt32] {
        await withCheckedContinuation { continuation in
            loop.submit { [connection] in
                connection.value.whenLimitsCount(count) { continuation.resume() }
            }
        }
        return (try? await loop.run { [connection] in connection.value.streamLimits }) ?? []
    }

    /// Says goodbye and ends the thread.
    public func close() async throws {
        try await loop.run { [connection] in connection.value.close() }
        loop.stopAndJoin()
    }
}
