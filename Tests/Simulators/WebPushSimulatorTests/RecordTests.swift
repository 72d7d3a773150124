import Crypto
import EventLoop
import Foundation
import Glibc
import JSON
import PushServiceSimulator
import PushTestKit
import SimulatorTestClient
import TestTraits
import Testing
import WebPushSimulator

@Suite("Web Push: records, numbers and the control port", .timeLimit(.minutes(10)), .ownThread)
struct RecordTests {
    @Test("The file has a line for each answer of each origin, and for each message that had waited")
    func lines() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("record.ndjson", "an earlier run\n")
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"apple-","answer":"gone"}
            {"subscription":"plain-","online":false}
            """)
        let summary = try await WebPushFixture.run(
            WebPushFixture.configured {
                $0.recordFile = file
                $0.script = script
                $0.eventMember = "id"
            }
        ) { fixture in
            try await fixture.send("fcm", 1, #"{"id":"e1","text":"café"}"#, topic: "news")
            try await fixture.send("fcm", 1, #"{"id":"e1","text":"in other words"}"#)
            try await fixture.send("fcm", 1, #"{"id":"e2","text":"café"}"#)
            try await fixture.send("apple", 2, #"{"id":"e1"}"#)
            try await fixture.send("plain", 3, "no JSON")
            fixture.simulator.change(by: try .lines(#"{"subscription":"plain-","online":true}"#))
            #expect(try await fixture.simulator.recorded().count == 6)
        }
        #expect(summary.answered == 5 && summary.accepted == 4 && summary.duplicates == 1)
        #expect(summary.distinctMessages == 3 && summary.recordsLost == 0)
        let parser = JSONParser()
        var parsed: [[String: String]] = []
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let value = try parser.parse(String(line))
            var fields: [String: String] = [:]
            for member in try #require(value.object) {
                fields[member.key] = member.value.string ?? String(decoding: member.value.minified, as: UTF8.self)
            }
            parsed.append(fields)
        }
        #expect(parsed.count == 6)
        let fcm = parsed.filter { $0["origin"] == "fcm" }
        try #require(fcm.count == 3)
        #expect(fcm.map { $0["event"] } == ["e1", "e1", "e2"])
        #expect(fcm.map { $0["duplicate"] } == ["false", "true", "false"])
        #expect(fcm.allSatisfy { $0["token"] == "fcm-0000001" && $0["status"] == "201" && $0["fate"] == "delivered" })
        #expect(fcm[0]["payload"] == #"{"id":"e1","text":"café"}"# && fcm[0]["topic"] == "news")
        #expect(fcm[0]["hash"]?.count == 32 && fcm[0]["hash"] != fcm[1]["hash"] && fcm[0]["ttl"] == "60")
        let apple = try #require(parsed.first { $0["origin"] == "apple" })
        #expect(apple["status"] == "410" && apple["reason"] == "SUBSCRIPTION_GONE" && apple["fate"] == "null")
        let plain = parsed.filter { $0["origin"] == "plain" }
        #expect(plain.map { $0["kind"] } == ["push", "delivery"] && plain.map { $0["fate"] } == ["stored", "null"])
        #expect(plain[0]["payload"] == "null" && plain[0]["payload_base64url"] == "bm8gSlNPTg")
        #expect(plain[0]["message"] == plain[1]["message"] && plain[0]["hash"] == plain[1]["hash"])
    }

    @Test("The summary as JSON has the numbers of all origins and of each")
    func summary() async throws {
        let summary = try await WebPushFixture.run { fixture in
            for origin in fixture.simulator.originNames { try await fixture.send(origin) }
            try await fixture.send("fcm", 5)
            let shown = try JSONParser().parse(try await fixture.simulator.summaryJSON())
            #expect(shown["accepted"]?.int64 == 6 && shown["origins"]?["fcm"]?["accepted"]?.int64 == 2)
        }
        let parsed = try JSONParser().parse(summary.json)
        #expect(parsed["answered"]?.int64 == 6 && parsed["delivered"]?.int64 == 6 && parsed["vapid_tokens"]?.int64 == 6)
        #expect(parsed["origins"]?["wns"]?["distinct_messages"]?.int64 == 1)
        #expect(parsed["connections"]?.int64 == 5 && parsed["distinct_messages_complete"]?.bool == true)
        #expect(parsed["origins"]?["wns"]?["origins"] == nil)
        let answers = try #require(parsed["answers"]?.array.map { Array($0) })
        #expect(answers.count == 1 && answers[0]["count"]?.int64 == 6 && answers[0]["reason"]?.isNull == true)
    }

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

    @Test("The control port adds faults, changes subscriptions, forgets keys, and shows the numbers")
    func control() async throws {
        try await WebPushFixture.run { fixture in
            let loop = try EventLoop(name: "control")
            let control = try await loop.run {
                LoopBound(try FaultControl(fixture.simulator, port: 0, loop: loop), to: loop)
            }
            let port = try await loop.run { control.value.port }
            func tell(_ line: String) throws -> String { try Self.exchange(line, port) }
            #expect(try tell(#"{"subscription":"fcm-","answer":"fresh"}"#) == #"{"ok":true}"#)
            #expect(try await fixture.send("fcm").status == 410)
            #expect(try tell(#"{"fault":"answer","origin":"fcm","status":500,"times":1}"#) == #"{"ok":true}"#)
            #expect(try await fixture.send("fcm").status == 500)
            #expect(try tell(#"{"subscription":"","online":false}"#) == #"{"ok":true}"#)
            #expect(try await fixture.send("fcm").status == 201)
            #expect(try tell(#"{"show":true}"#).contains(#""waiting":1"#))
            #expect(try tell(#"{"subscription":"","online":true}"#) == #"{"ok":true}"#)
            #expect(try await fixture.simulator.recorded().last?.kind == .delivery)
            let other = try fixture.push("fcm", key: .generate())
            #expect(try await fixture.client("fcm").send(other).status == 403)
            #expect(try tell(#"{"forget_keys":true}"#) == #"{"ok":true}"#)
            #expect(try await fixture.client("fcm").send(other).status == 201)
            #expect(try tell(#"{"fault":"answer","origin":"nobody","status":500}"#).contains("nobody"))
            #expect(try tell(#"{"fault":"flood"}"#).contains("flood"))
            #expect(try tell(#"{"clear":true}"#) == #"{"ok":true}"#)
            try await loop.run { control.value.stop() }
            loop.stopAndJoin()
        }
    }
}
