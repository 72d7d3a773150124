import Crypto
import EventLoop
import Testing

@testable import HTTP2

@Suite("HTTP/2 control frames over loopback TLS")
struct ControlFrameTests {
    /// A server and a ready client.
    private struct World: Sendable {
        let server: TestServer
        let loop: EventLoop
        let client: Endpoint

        func end() async throws {
            try await client.run { connection, _ in connection.close() }
            try await client.wait { $0.closeReason != nil }
            try await server.stop()
            loop.stopAndJoin()
        }
    }

    private func world(
        serverLimits: HTTP2Connection.Configuration = .init(), clientLimits: HTTP2Connection.Configuration = .init(),
        requestReceived: @escaping @Sendable (HTTP2Connection, Int32, Probe.Message) -> Void = { _, _, _ in },
        prepare: @escaping @Sendable (Probe) -> Void = { _ in }
    ) async throws -> World {
        let identity = try TestIdentity()
        let server = try await TestServer.start(
            context: try identity.serverContext(), configuration: serverLimits, requestReceived: requestReceived)
        let loop = try EventLoop(name: "test-client")
        let client = try await Endpoint.connect(
            to: server.port, context: try identity.clientContext(), on: loop, configuration: clientLimits,
            prepare: prepare)
        try await client.wait { $0.readyCount == 1 }
        try await server.wait { $0.readyCount == 1 }
        return World(server: server, loop: loop, client: client)
    }

    @Test("A peer that sends more than its allowance is cut off, and one that answers within it is not")
    func inputAllowance() async throws {
        var limits = HTTP2Connection.Configuration()
        limits.inputAllowance = InputAllowance(burstBytes: 65_536, bytesPerSecond: 1, bytesPerStream: 4_096)
        let world = try await world(clientLimits: limits) { connection, stream, message in
            guard message.header(":path") == "/endless" else {
                return TestServer.respond(connection, stream, body: [UInt8](repeating: 1, count: 2_000))
            }
            var headers = HeaderBlock()
            headers.add(":status", value: "200")
            try? connection.submitEndlessResponse(stream: stream, headers, repeating: [1, 2, 3])
        }
        for count in stride(from: 50, through: 500, by: 50) {
            try await world.client.run { connection, _ in
                for _ in 0..<50 { _ = try Endpoint.post(connection, "/", body: [1]) }
            }
            try await world.client.wait { $0.closedStreams.count == count }
        }
        try await world.client.run { connection, _ in _ = try Endpoint.post(connection, "/endless", body: [1]) }
        try await world.client.wait { $0.closeReason != nil }
        try await world.client.run { _, probe in
            #expect("\(probe.closeReason ?? .local)".contains("it sends more than answers need"))
        }
        try await world.server.stop()
        world.loop.stopAndJoin()
    }

    @Test("An allowance grows with time and with streams, never above its burst, and ends what exceeds it")
    func allowanceArithmetic() {
        var allowance = InputAllowance(burstBytes: 1_000, bytesPerSecond: 100, bytesPerStream: 50)
        var now: UInt64 = 1
        func takes(_ count: Int) -> Bool { allowance.takes(count, nowNanoseconds: now) }
        #expect(takes(1_000) && !takes(1))
        now += 10_000_000
        #expect(takes(0))
        for _ in 0..<1_000 { allowance.streamEnded() }
        #expect(takes(1_000) && !takes(1))
        now += 3_600_000_000_000
        #expect(takes(999) && takes(1) && !takes(1))
        now += .max / 2
        #expect(takes(1_000) && !takes(1))
    }

    @Test("A limit of one stream, set while fifty are open, holds from then on until it is lifted")
    func streamLimitChangesInFlight() async throws {
        let world = try await world()
        try await world.client.run { connection, _ in
            for _ in 0..<50 { _ = try Endpoint.post(connection, "/hold", body: [1]) }
        }
        try await world.server.wait { $0.endedCount == 50 }
        try await world.server.run { connections, _ in connections[0].submitSettings(maxConcurrentStreams: 1) }
        try await world.client.wait { $0.settingsCount == 2 }
        try await world.client.run { connection, _ in
            #expect(connection.peerMaxConcurrentStreams == 1)
            #expect(!connection.canSubmit)
            // A request that is submitted all the same waits for its turn.
            for _ in 0..<3 { _ = try Endpoint.post(connection, "/later", body: [2]) }
            #expect(connection.openStreamCount == 53)
        }
        try await world.server.run { connections, _ in
            for stream in stride(from: Int32(1), through: 99, by: 2) {
                TestServer.respond(connections[0], stream, body: [])
            }
        }
        for (count, stream) in [(51, Int32(101)), (52, 103), (53, 105)] {
            try await world.server.wait { $0.endedCount == count }
            try await world.server.run { connections, probes in
                #expect(connections[0].openStreamCount == 1)
                #expect(probes[0].endedCount == count)
                TestServer.respond(connections[0], stream, body: [])
            }
        }
        try await world.client.wait { $0.closedStreams.count == 53 }
        try await world.server.run { connections, _ in connections[0].submitSettings(maxConcurrentStreams: 20) }
        try await world.client.wait { $0.settingsCount == 3 }
        try await world.client.run { connection, _ in
            #expect(connection.canSubmit)
            for _ in 0..<20 { _ = try Endpoint.post(connection, "/hold", body: [3]) }
            #expect(!connection.canSubmit)
        }
        try await world.server.wait { $0.endedCount == 73 }
        try await world.end()
    }

    @Test("GOAWAY names the last stream; those above it are refused, those below it are answered, then all ends")
    func goAwayRefusesStreamsAbove() async throws {
        let prepare: @Sendable (Probe) -> Void = { probe in
            probe.onStreamClosed = { [unowned probe] connection, _, _ in
                guard !probe.goAways.isEmpty else { return }
                #expect(!connection.canSubmit)
                let error = #expect(throws: HTTP2Error.self) { try Endpoint.post(connection, "/late", body: []) }
                #expect(error?.code == .goingAway)
            }
        }
        let world = try await world(prepare: prepare)
        try await world.client.run { connection, _ in
            for _ in 0..<10 { _ = try Endpoint.post(connection, "/hold", body: [1]) }
        }
        try await world.server.wait { $0.endedCount == 10 }
        try await world.server.run { connections, _ in
            connections[0].goAway(lastStreamID: 9, errorCode: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        }
        try await world.client.wait { $0.closedStreams.count == 5 }
        try await world.client.run { _, probe in
            #expect(probe.goAways.map(\.lastStreamID) == [9])
            #expect(probe.goAways.map(\.errorCode) == [0])
            #expect(probe.goAways.map(\.debugData) == [Array(#"{"reason":"Shutdown"}"#.utf8)])
            #expect(probe.closedStreams == [11: 7, 13: 7, 15: 7, 17: 7, 19: 7])
            #expect(probe.closeReason == nil)
        }
        try await world.server.run { connections, _ in
            for stream in [Int32(1), 3, 5, 7, 9] { TestServer.respond(connections[0], stream, body: [42]) }
        }
        try await world.client.wait { $0.closeReason != nil }
        try await world.client.run { _, probe in
            #expect(probe.closeReasons == ["closed by the peer"])
            for stream in [Int32(1), 3, 5, 7, 9] {
                #expect(probe.closedStreams[stream] == 0)
                #expect(probe.messages[stream]?.body == [42])
            }
        }
        try await world.end()
    }

    @Test("A request that still waits for a free stream when GOAWAY comes is refused as not processed")
    func queuedRequestIsRefusedByGoAway() async throws {
        var limits = HTTP2Connection.Configuration()
        limits.maxConcurrentStreams = 1
        let world = try await world(serverLimits: limits)
        try await world.client.run { connection, _ in
            for _ in 0..<3 { _ = try Endpoint.post(connection, "/hold", body: [1]) }
        }
        try await world.server.wait { $0.endedCount == 1 }
        try await world.server.run { connections, _ in connections[0].goAway() }
        try await world.client.wait { $0.goAways.count == 1 }
        try await world.server.run { connections, _ in TestServer.respond(connections[0], 1, body: []) }
        try await world.client.wait { $0.closeReason != nil }
        try await world.client.run { connection, probe in
            #expect(probe.closedStreams[1] == 0)
            // The server may close before the others had their turn; then the end of the connection stands for theirs.
            for stream in [Int32(3), 5] { #expect([nil, 7].contains(probe.closedStreams[stream])) }
            #expect(connection.lastWrittenStreamID == 1)
        }
        try await world.end()
    }

    @Test("Either side can reset a stream, and the other hears the code")
    func resetIsHeard() async throws {
        let world = try await world()
        try await world.client.run { connection, _ in
            for _ in 0..<3 { _ = try Endpoint.post(connection, "/hold", body: [1]) }
        }
        try await world.server.wait { $0.endedCount == 3 }
        try await world.server.run { connections, _ in connections[0].resetStream(1, errorCode: 11) }
        try await world.client.run { connection, _ in connection.resetStream(3, errorCode: 8) }
        try await world.client.wait { $0.closedStreams.count == 2 }
        try await world.server.wait { $0.closedStreams.count == 2 }
        try await world.client.run { connection, probe in
            #expect(probe.closedStreams == [1: 11, 3: 8])
            #expect(connection.openStreamCount == 1)
            // Streams that have ended or never were are left alone.
            for stream in [Int32(1), 3, 7, 9_999, 0, -1, .max] { connection.resetStream(stream, errorCode: 8) }
        }
        try await world.server.run { connections, probes in
            #expect(probes[0].closedStreams == [1: 11, 3: 8])
            for stream in [Int32(1), 3, 7, 2, 0, -1] { connections[0].resetStream(stream, errorCode: 8) }
            var headers = HeaderBlock()
            headers.add(":status", value: 200)
            for stream in [Int32(3), 7] {
                let error = #expect(throws: HTTP2Error.self) {
                    try connections[0].submitResponse(stream: stream, headers, body: [1])
                }
                #expect(error?.code == .streamUnknown)
            }
            TestServer.respond(connections[0], 5, body: [5])
            #expect(throws: HTTP2Error.self) { try connections[0].submitResponse(stream: 5, headers, body: [1]) }
        }
        #expect(try await world.client.response(on: 5).body == [5])
        #expect(try await world.client.run { _, probe in probe.closeReason == nil })
        try await world.end()
    }

    @Test("A request that waits for a free stream can be cancelled before it is written")
    func queuedRequestIsCancelled() async throws {
        var limits = HTTP2Connection.Configuration()
        limits.maxConcurrentStreams = 1
        let world = try await world(serverLimits: limits)
        try await world.client.run { connection, _ in
            for _ in 0..<3 { _ = try Endpoint.post(connection, "/hold", body: [1]) }
            connection.resetStream(3, errorCode: 8)
        }
        try await world.server.wait { $0.endedCount == 1 }
        try await world.server.run { connections, _ in TestServer.respond(connections[0], 1, body: []) }
        try await world.server.wait { $0.endedCount == 2 }
        try await world.server.run { connections, probes in
            #expect(Set(probes[0].messages.keys) == [1, 5])
            TestServer.respond(connections[0], 5, body: [])
        }
        try await world.client.wait { $0.closedStreams.count == 3 }
        #expect(try await world.client.run { connection, _ in connection.openStreamCount } == 0)
        try await world.end()
    }

    @Test("PING is acknowledged with its content, in both directions")
    func pingIsAcknowledged() async throws {
        let world = try await world()
        let contents: [UInt64] = [0, 1, 0x0123_4567_89AB_CDEF, .max]
        try await world.client.run { connection, _ in contents.forEach(connection.ping) }
        try await world.client.wait { $0.pings == contents }
        try await world.server.run { connections, _ in connections[0].ping(7) }
        try await world.server.wait { $0.pings == [7] }
        try await world.end()
    }

    @Test("A body larger than the peer's window goes out as the window opens", arguments: [1, 100, 16_384, 65_535])
    func bodyWaitsForWindow(windowBytes: UInt32) async throws {
        var limits = HTTP2Connection.Configuration()
        limits.initialStreamWindowBytes = windowBytes
        limits.connectionWindowBytes = 65_535
        let size = windowBytes == 1 ? 300 : 150_000
        let world = try await world(serverLimits: limits, clientLimits: limits, requestReceived: TestServer.echo)
        try await world.client.run { connection, _ in
            #expect(connection.peerInitialStreamWindowBytes == Int(windowBytes))
            #expect(connection.peerConnectionWindowBytes == 65_535)
        }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var streams: [Int32] = []
        for _ in 0..<3 { streams.append(try await world.client.post("/echo", body: body)) }
        for stream in streams { #expect(try await world.client.response(on: stream).body == body) }
        try await world.end()
    }

    @Test("A window that shrinks below nothing and grows again loses no byte")
    func windowChangesInFlight() async throws {
        let world = try await world(requestReceived: TestServer.echo)
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let stream = try await world.client.post("/echo", body: body)
        try await world.server.wait { ($0.messages[1]?.body.count ?? 0) > 0 }
        for windowBytes in [UInt32(10), 0, 1 << 20] {
            try await world.server.run { connections, _ in
                connections[0].submitSettings(initialWindowBytes: windowBytes)
            }
        }
        #expect(try await world.client.response(on: stream).body == body)
        try await world.end()
    }

    @Test("A handler may submit, reset and close from within any event, and hears the end exactly once")
    func handlerMayCallBack() async throws {
        let prepare: @Sendable (Probe) -> Void = { probe in
            probe.onReady = { connection in
                for _ in 0..<20 { _ = try? Endpoint.post(connection, "/echo", body: [9]) }
                connection.resetStream(5, errorCode: 8)
            }
            probe.onStreamEnded = { connection, stream, _ in
                connection.resetStream(stream, errorCode: 8)
                connection.resetStream(stream + 2, errorCode: 8)
                _ = try? Endpoint.post(connection, "/more", body: [9])
                guard stream > 21 else { return }
                connection.close()
                connection.close()
                #expect(throws: HTTP2Error.self) { try Endpoint.post(connection, "/late", body: [9]) }
            }
            probe.onClosed = { connection in
                connection.close()
                connection.ping(1)
                connection.resetStream(1, errorCode: 8)
                connection.goAway()
                #expect(throws: HTTP2Error.self) { try Endpoint.post(connection, "/late", body: [9]) }
                #expect(!connection.canSubmit)
            }
        }
        let world = try await world(requestReceived: TestServer.echo, prepare: prepare)
        try await world.client.wait { $0.closeReason != nil }
        #expect(try await world.client.run { _, probe in probe.closeReasons } == ["closed by this side"])
        try await world.end()
    }
}
