import Crypto
import EventLoop
import Glibc
import HTTP2
import PushTestKit
import Testing

@Suite("HTTP/2 with other people's programs (Debian packages nghttp2-server and nghttp2-client)")
struct InteroperationTests {
    @Test("Our client is answered by nghttpd, a thousand times")
    func clientTalksToNghttpd() async throws {
        let identity = try TestIdentity()
        let (descriptor, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(descriptor)
        let program = try RunningCommand(
            program: "/usr/sbin/nghttpd",
            [
                "--verbose", "--address=127.0.0.1", "--echo-upload", "-m", "50", "\(port)", identity.keyFile,
                identity.certificateFile,
            ], in: TemporaryFolder())
        try await program.wait(for: "listen", in: \.output)
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(to: port, context: try identity.clientContext(), on: loop) { probe in
            probe.onReady = { [unowned probe] connection in
                #expect(connection.peerMaxConcurrentStreams == 50)
                Self.submitMore(connection, probe)
            }
            probe.onStreamClosed = { [unowned probe] connection, stream, errorCode in
                #expect(errorCode == 0)
                #expect(probe.messages[stream]?.header(":status") == "200")
                #expect(probe.messages[stream]?.body == Self.body((Int(stream) + 1) / 2))
                Self.submitMore(connection, probe)
            }
        }
        try await client.wait { $0.closedStreams.count == 1_000 || $0.closeReason != nil }
        #expect(try await client.run { _, probe in probe.closedStreams.count } == 1_000)
        try await client.close()
        loop.stopAndJoin()
        program.signal(SIGKILL)
        _ = await program.end()
    }

    /// Sizes around a frame and around an initial window among many small ones.
    private static func body(_ number: Int) -> [UInt8] {
        let size = number % 100 == 0 ? 16_300 + number : number % 333 == 0 ? 70_000 : number % 7
        return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
    }

    private static func submitMore(_ connection: HTTP2Connection, _ probe: Probe) {
        while probe.submittedCount < 1_000, connection.canSubmit {
            probe.submittedCount += 1
            _ = try? Endpoint.post(connection, "/", body: body(probe.submittedCount))
        }
    }

    @Test("Our server answers h2load on four connections")
    func serverAnswersH2load() async throws {
        let identity = try TestIdentity()
        let server = try await TestServer.start(context: try identity.serverContext())
        let load = try await CommandRunner.run(
            "/usr/bin/h2load", ["-n", "2000", "-c", "4", "-m", "100", "https://127.0.0.1:\(server.port)/"],
            in: TemporaryFolder())
        #expect(load.output.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(load)")
        try await server.stop()
    }
}
