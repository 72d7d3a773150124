import Glibc
import PushTestKit
import TestTraits
import Testing

@testable import HTTPServer

@Suite("How long the parts of a connection's life may take", .ownThread)
struct HTTPDeadlineTests {
    private static let nanosecondsPerSecond: UInt64 = 1_000_000_000
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    private func configuration(_ change: (inout HTTPServerConfiguration) -> Void) -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        change(&configuration)
        return configuration
    }

    @Test("Each part has its own deadline, which bytes that come do not put off, and the owner's work has none")
    func deadlines() {
        let configuration = configuration {
            $0.headSecondsMaximum = 10
            $0.bodySecondsMaximum = 20
            $0.answerSecondsMaximum = 30
            $0.idleSecondsMaximum = 40
            $0.lingeringSecondsMaximum = 50
        }
        var machine = HTTPConnectionMachine(
            configuration: configuration, peer: ClientAddress("192.0.2.1"), isTrustedProxy: false, nowNanoseconds: 0)
        var secondsUntil: [UInt64?] = []
        func note(_: [HTTPConnectionMachine.Action] = []) {
            secondsUntil.append(machine.deadlineNanoseconds.map { $0 / Self.nanosecondsPerSecond })
        }
        func after(_ seconds: UInt64) -> UInt64 { seconds * Self.nanosecondsPerSecond }
        note()
        note(machine.received("PUT / ".utf8, nowNanoseconds: after(1)))
        note(machine.received("HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n".utf8, nowNanoseconds: after(2)))
        note(machine.admitted(bodyBytesMaximum: 3, nowNanoseconds: after(3)))
        note(machine.received("a".utf8, nowNanoseconds: after(4)))
        note(machine.received("bc".utf8, nowNanoseconds: after(5)))
        note(machine.respond(.text(200, "well"), closes: false, date: "", nowNanoseconds: after(6)))
        note(machine.sent(nowNanoseconds: after(7)))
        note(machine.received("GET ".utf8, nowNanoseconds: after(8)))
        note(machine.received("/ ".utf8, nowNanoseconds: after(9)))
        note(machine.expired(nowNanoseconds: after(18)))
        note(machine.respond(.text(408, "late"), closes: true, date: "", nowNanoseconds: after(19)))
        note(machine.sent(nowNanoseconds: after(20)))
        #expect(secondsUntil == [10, 10, nil, 23, 23, nil, 36, 47, 18, 18, nil, 49, 70])
    }

    @Test("A connection that asks no more is closed without a word")
    func idle() throws {
        let server = try HTTPServer(configuration: configuration { $0.idleSecondsMaximum = 0 }, handler: EchoHandler())
        defer { server.stop() }
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write(Self.request, to: client)
        let answer = PlainHTTP.readToEnd(client)
        #expect(answer.status == 200 && answer.headers["connection"] == nil && !answer.body.contains("HTTP/1.1"))
        var byte: UInt8 = 0
        #expect(recv(client, &byte, 1, 0) == 0)
    }

    @Test("An answer that its client does not read is given up, and what it held is free")
    func unreadAnswer() async throws {
        let count = 16 << 20
        let server = try HTTPServer(
            configuration: configuration {
                $0.answerSecondsMaximum = 0
                $0.bodyBytesMaximum = count
            }, handler: EchoHandler())
        defer { server.stop() }
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        // The echo is as long as the body, and the kernel takes no more than some megabytes of it.
        PlainHTTP.write(
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "x", count: count),
            to: client)
        // It has begun, or was given up before this thread came to look.
        var byte: UInt8 = 0
        _ = recv(client, &byte, 1, Int32(MSG_PEEK))
        try await eventually("the open requests", equals: 0) { server.requestCount }
        #expect(try await server.memory() == HTTPServerMemory())
        #expect(PlainHTTP.readToEnd(client).body.utf8.count < count)
    }
}
