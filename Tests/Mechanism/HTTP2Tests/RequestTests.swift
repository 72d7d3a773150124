import Crypto
import EventLoop
import HTTP2
import Testing

@Suite("HTTP/2 requests and responses over loopback TLS")
struct RequestTests {
    private static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    @Test("A body of any size comes back whole", arguments: [0, 1, 180, 4_096, 16_384, 16_385, 200_000, 3_000_000])
    func bodyIsEchoed(size: Int) async throws {
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(to: server.port, context: try identity.clientContext(), on: loop)
        try await client.wait { $0.readyCount == 1 }
        let body = Self.pattern(size)
        let response = try await client.response(on: try await client.post("/echo", body: body))
        #expect(response.header(":status") == "200")
        #expect(response.header("content-length") == "\(size)")
        #expect(response.body == body)
        try await client.close()
        #expect(
            try await client.run { connection, probe in probe.closeReasons + ["\(connection.openStreamCount)"] }
                == ["closed by this side", "0"])
        try await server.stop()
        loop.stopAndJoin()
    }

    private static func submitMore(_ connection: HTTP2Connection, _ probe: Probe) {
        while probe.submittedCount < 10_000, connection.canSubmit {
            probe.submittedCount += 1
            let body = Array("body \(probe.submittedCount)".utf8)
            let stream = try? Endpoint.post(connection, "/echo", body: body)
            #expect(stream == Int32(2 * probe.submittedCount - 1))
        }
    }

    @Test("Ten thousand requests, a thousand at a time, are answered each with its own body")
    func manyRequests() async throws {
        let identity = try TestIdentity()
        var limits = HTTP2Connection.Configuration()
        limits.maxConcurrentStreams = 1_000
        let server = try await TestServer.start(context: try identity.serverContext(), configuration: limits)
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(to: server.port, context: try identity.clientContext(), on: loop) {
            probe in
            probe.onReady = { [unowned probe] connection in
                #expect(connection.peerMaxConcurrentStreams == 1_000)
                Self.submitMore(connection, probe)
                #expect(probe.submittedCount == 1_000)
                #expect(connection.openStreamCount == 1_000)
            }
            probe.onStreamClosed = { [unowned probe] connection, stream, errorCode in
                #expect(errorCode == 0)
                #expect(probe.messages[stream]?.body == Array("body \((stream + 1) / 2)".utf8))
                Self.submitMore(connection, probe)
            }
        }
        try await client.wait { $0.closedStreams.count == 10_000 }
        try await client.run { connection, probe in
            #expect(connection.openStreamCount == 0)
            #expect(connection.lastWrittenStreamID == 19_999)
            #expect(probe.endedCount == 10_000)
        }
        try await client.close()
        try await server.stop()
        loop.stopAndJoin()
    }
}
