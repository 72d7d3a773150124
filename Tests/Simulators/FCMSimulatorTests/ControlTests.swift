import EventLoop
import Glibc
import PushServiceSimulator
import PushTestKit
import SimulatorTestClient
import TestTraits
import Testing

@testable import FCMSimulator

@Suite("FCM: the control port", .timeLimit(.minutes(10)), .ownThread)
struct ControlTests {
    /// Sends a line on a connection of its own, and reads the line that comes back.
    private static func exchange(_ line: String, _ port: UInt16) throws -> String {
        let descriptor = PlainHTTP.connect(port)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        PlainHTTP.write(line + "\n", to: descriptor)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test("The control port adds faults, changes devices, revokes access tokens, and shows the numbers")
    func control() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            let loop = try EventLoop(name: "control")
            let control = try await loop.run {
                LoopBound(try FaultControl(fixture.simulator, port: 0, loop: loop), to: loop)
            }
            let port = try await loop.run { control.value.port }
            func tell(_ line: String) throws -> String { try Self.exchange(line, port) }
            #expect(try tell(#"{"token":"a","answer":"unregistered"}"#) == #"{"ok":true}"#)
            #expect(await fixture.client.send(fixture.message(to: "a", accessToken: token)).status == 404)
            #expect(try tell(#"{"fault":"answer","status":500,"times":1}"#) == #"{"ok":true}"#)
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 500)
            #expect(try tell(#"{"revoke":true}"#) == #"{"ok":true}"#)
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 401)
            #expect(try tell(#"{"fault":"flood"}"#).contains("flood"))
            #expect(try tell(#"{"show":true}"#).contains(#""answered":2"#))
            try await loop.run { control.value.stop() }
            loop.stopAndJoin()
        }
    }
}
