import Dispatch
import EventLoop
import Glibc
import PushTestKit
import Testing

@Suite("The faulty proxy does to bytes what it is told, and nothing else")
struct FaultProxyTests {
    /// Runs a test with a listening socket and a proxy before it.
    private func withProxy(
        readsAMQP: Bool = false, _ body: (FaultProxy, Int32) async throws -> Void
    ) async throws {
        let (listener, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        defer { close(listener) }
        let proxy = try await FaultProxy.start(to: port, readsAMQP: readsAMQP)
        try await body(proxy, listener)
        try await proxy.stop()
    }

    private func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Compares without writing thousands of numbers into a message.
    private func expect(
        _ received: (bytes: [UInt8], ending: ProxiedPair.Ending), _ bytes: [UInt8], _ ending: ProxiedPair.Ending,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let length = zip(received.bytes, bytes).prefix { $0 == $1 }.count
        let isSame = received.bytes == bytes && received.ending == ending
        #expect(
            isSame, "\(received.bytes.count) bytes, \(length) of them right, then \(received.ending)",
            sourceLocation: sourceLocation)
    }

    @Test(
        "Whatever the conditions, all bytes arrive in their order, and the end of a stream after them",
        arguments: [
            ProxyConditions.calm, .dripping, .distant, ProxyConditions(bytesPerSecondMaximum: 40_000),
            ProxyConditions(delayMilliseconds: 1...5, writeBytesMaximum: 7),
        ])
    func passesBytes(conditions: ProxyConditions) async throws {
        try await withProxy { proxy, listener in
            try await proxy.setConditions(conditions)
            let pair = try ProxiedPair(listener, through: proxy)
            let there = bytes(5_000)
            let back = bytes(3_000, seed: 2)
            ProxiedPair.write(there, to: pair.client)
            shutdown(pair.client, Int32(SHUT_WR))
            ProxiedPair.write(back, to: pair.server)
            expect(ProxiedPair.read(.max, from: pair.server), there, .finished)
            shutdown(pair.server, Int32(SHUT_WR))
            expect(ProxiedPair.read(.max, from: pair.client), back, .finished)
            #expect(await proxy.record.wait { $0.endedCount == 1 && $0.fired.isEmpty })
        }
    }

    @Test("A megabyte that is not read yet is not lost, and not held in the proxy alone")
    func passesMuch() async throws {
        try await withProxy { proxy, listener in
            let pair = try ProxiedPair(listener, through: proxy)
            let there = bytes(1_000_000)
            // Both block, so the writer has a thread that no other test can occupy.
            let client = pair.client
            DispatchQueue(label: "writing").async { ProxiedPair.write(there, to: client) }
            expect(ProxiedPair.read(there.count, from: pair.server), there, .open)
        }
    }

    @Test("A connection is reset after exactly so many bytes", arguments: [0, 1, 100, 4_999])
    func resetsAfterBytes(count: Int) async throws {
        try await withProxy { proxy, listener in
            try await proxy.set(FaultTrigger(.bytes(.toServer, count)))
            let pair = try ProxiedPair(listener, through: proxy)
            let there = bytes(5_000)
            ProxiedPair.write(there, to: pair.client)
            #expect(ProxiedPair.read(.max, from: pair.client) == ([], .reset))
            expect(ProxiedPair.read(.max, from: pair.server), Array(there[..<count]), .reset)
            #expect(proxy.record.value.fired.count == 1)
            let next = try ProxiedPair(listener, through: proxy)
            ProxiedPair.write(there, to: next.client)
            expect(ProxiedPair.read(there.count, from: next.server), there, .open)
        }
    }

    @Test("Who connects is reset at the occurrence that the trigger names, or for as long as the conditions say so")
    func resetsAtConnecting() async throws {
        try await withProxy { proxy, listener in
            try await proxy.set(FaultTrigger(.connection, occurrence: 2))
            let first = try ProxiedPair(listener, through: proxy)
            let second = try TCPSocket.connect(host: "127.0.0.1", port: proxy.port)
            defer { close(second) }
            #expect(ProxiedPair.read(1, from: second).ending == .reset)
            try await proxy.setConditions(ProxyConditions(welcome: .reset))
            let third = try TCPSocket.connect(host: "127.0.0.1", port: proxy.port)
            defer { close(third) }
            #expect(ProxiedPair.read(1, from: third).ending == .reset)
            ProxiedPair.write([7], to: first.client)
            #expect(ProxiedPair.read(1, from: first.server).bytes == [7])
            try await proxy.resetAll()
            #expect(ProxiedPair.read(1, from: first.server).ending == .reset)
        }
    }

    @Test("Silence holds the bytes of its direction back, and the other direction goes on")
    func holds() async throws {
        try await withProxy { proxy, listener in
            let pair = try ProxiedPair(listener, through: proxy)
            try await proxy.setConditions(.silent([.toServer], .held))
            ProxiedPair.write([1, 2, 3], to: pair.client)
            ProxiedPair.write([4, 5], to: pair.server)
            #expect(ProxiedPair.read(2, from: pair.client).bytes == [4, 5])
            #expect(!ProxiedPair.wait(pair.server, POLLIN, milliseconds: 0))
            try await proxy.setConditions(.calm)
            #expect(ProxiedPair.read(3, from: pair.server).bytes == [1, 2, 3])
        }
    }

    @Test("What silence swallows never arrives, and its end is a reset")
    func swallows() async throws {
        try await withProxy { proxy, listener in
            let pair = try ProxiedPair(listener, through: proxy)
            let untouched = try ProxiedPair(listener, through: proxy)
            try await proxy.setConditions(.silent([.toServer, .toClient], .swallowed))
            ProxiedPair.write([1, 2, 3], to: pair.client)
            ProxiedPair.write([4, 5], to: pair.server)
            // The proxy reads in turn: when it has welcomed another, it has read those before.
            let later = try ProxiedPair(listener, through: proxy)
            try await proxy.setConditions(.calm)
            #expect(ProxiedPair.read(1, from: pair.client) == ([], .reset))
            #expect(ProxiedPair.read(1, from: pair.server) == ([], .reset))
            for pair in [untouched, later] {
                ProxiedPair.write([6], to: pair.client)
                #expect(ProxiedPair.read(1, from: pair.server).bytes == [6])
            }
        }
    }

    @Test(
        "A trigger strikes the publish that it names: before it, within it, and after it",
        arguments: [
            FaultTrigger.Moment.before, .within, .after,
        ])
    func strikesPublishes(moment: FaultTrigger.Moment) async throws {
        try await withProxy(readsAMQP: true) { proxy, listener in
            try await proxy.set(FaultTrigger(.method(.publish, moment), occurrence: 2))
            let pair = try ProxiedPair(listener, through: proxy)
            let stream = AMQPStream()
            let passing: Int
            switch moment {
            case .before: passing = stream.publishes[1].lowerBound
            case .within: passing = stream.publishes[1].lowerBound + 11
            case .after: passing = stream.publishes[1].upperBound
            }
            ProxiedPair.write(stream.bytes, to: pair.client)
            expect(ProxiedPair.read(.max, from: pair.server), Array(stream.bytes[..<passing]), .reset)
        }
    }

    @Test("A trigger that silences leaves the connection open")
    func silencesOneConnection() async throws {
        try await withProxy(readsAMQP: true) { proxy, listener in
            try await proxy.set(
                FaultTrigger(.method(.publish, .before), strike: .silence([.toServer, .toClient])))
            let pair = try ProxiedPair(listener, through: proxy)
            let stream = AMQPStream()
            ProxiedPair.write(stream.bytes, to: pair.client)
            #expect(await proxy.waitForStrikes(1))
            let before = stream.publishes[0].lowerBound
            expect(ProxiedPair.read(before, from: pair.server), Array(stream.bytes[..<before]), .open)
            let other = try ProxiedPair(listener, through: proxy)
            ProxiedPair.write(stream.bytes, to: other.client)
            expect(ProxiedPair.read(stream.bytes.count, from: other.server), stream.bytes, .open)
            #expect(!ProxiedPair.wait(pair.server, POLLIN, milliseconds: 0))
        }
    }
}
