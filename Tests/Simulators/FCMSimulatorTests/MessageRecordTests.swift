import Essentials
import Foundation
import JSON
import PushServiceSimulator
import PushTestKit
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: records and numbers", .timeLimit(.minutes(10)))
struct MessageRecordTests {
    @Test("Records, in memory and in the file, have what was sent and what was answered")
    func records() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("record.ndjson", "")
        let members = #"""
            "data":{"source":"cognito-sync","name":"caf\u00e9 \"x\""},
            "notification":{"title":"Hi"},
            "android":{"collapse_key":"notes","ttl":"3.5s","priority":"high"}
            """#
        let summary = try await FCMFixture.run(
            FCMFixture.configured {
                $0.recordFile = file
                $0.script = try .lines(#"{"token":"gone","answer":"unregistered"}"#)
            }
        ) { fixture in
            let token = try await fixture.accessToken()
            _ = await fixture.client.send(fixture.message(members, accessToken: token))
            _ = await fixture.client.send(fixture.message(members, accessToken: token))
            _ = await fixture.client.send(fixture.message(to: "gone", accessToken: token))
            _ = await fixture.client.send(fixture.request(body: "no JSON", accessToken: token))
            _ = await fixture.client.send(
                fixture.request(
                    body: #"{"message":{"topic":"news","data":{}},"validateOnly":true}"#, accessToken: token))
            try await fixture.simulator.waitForAnswers(5)
            let records = try await fixture.simulator.recorded()
            #expect(records.map(\.status) == [200, 200, 404, 400, 200])
            #expect(records.map(\.isDuplicate) == [false, true, false, false, false])
            #expect(records.map(\.isValidateOnly) == [false, false, false, false, true])
            #expect(records[0].target == MessageTarget(.token, FCMFixture.device))
            #expect(records[0].data == ["source": "cognito-sync", "name": "café \"x\""])
            #expect(records[0].notification == ["title": "Hi"])
            #expect(records[0].collapseKey == "notes" && records[0].ttl == "3.5s" && records[0].priority == "HIGH")
            #expect(records[2].reason == "UNREGISTERED" && records[2].name == nil)
            #expect(records[3].reason == "INVALID_ARGUMENT" && records[3].target == nil)
            #expect(records[4].target == MessageTarget(.topic, "news"))
        }
        #expect(summary.answered == 5 && summary.accepted == 2 && summary.validated == 1)
        #expect(summary.duplicates == 1 && summary.distinctMessages == 1 && summary.recordsLost == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let parser = JSONParser()
        #expect(lines.count == 5)
        let first = try parser.parse(String(lines[0]))
        #expect(first["token"]?.string == FCMFixture.device && first["kind"]?.string == "token")
        #expect(first["payload"]?["message"]?["data"]?["name"]?.string == "café \"x\"")
        #expect(first["collapse_key"]?.string == "notes" && first["delayed"]?.bool == false)
        #expect(first["name"]?.string?.hasPrefix("projects/chat-4711/messages/0:") == true)
        let third = try parser.parse(String(lines[2]))
        #expect(third["status"]?.int64 == 404 && third["reason"]?.string == "UNREGISTERED")
        #expect(try parser.parse(String(lines[3]))["payload"]?.isNull == true)
        // The reader of the other simulator's records understands it too.
        var reader = SimulatorRecord(path: file)
        #expect(try reader.next { $0.status } == [200, 200, 404, 400, 200])
    }

    @Test("The numbers are one line of JSON, and those of several loops add up")
    func summaryJSON() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            _ = await fixture.client.send(fixture.message(accessToken: token))
            let line = try JSONParser().parse(try await fixture.simulator.summaryJSON())
            #expect(line["accepted"]?.int64 == 1 && line["tokens_issued"]?.int64 == 1)
            #expect(line["token_seconds_left_maximum"]?.isNull == true)
            #expect(line["answers"]?.elements.first?["status"]?.int64 == 200)
        }
        var sum = summary
        sum.add(summary)
        #expect(sum.answered == 2 && sum.answers.map(\.count) == [2] && sum.serving.connections == 2)
    }

    @Test("A trusting simulator accepts everything unseen")
    func trusting() async throws {
        let summary = try await FCMFixture.run(
            FCMFixture.configured {
                $0.isTrusting = true
                $0.accounts = []
            }
        ) { fixture in
            let token = try await fixture.accessToken("nobody looks at it")
            let requests = (0..<50).map { _ in fixture.request(body: "nonsense", accessToken: token) }
            #expect(await fixture.client.send(requests).allSatisfy { $0.status == 200 })
        }
        #expect(summary.accepted == 50)
    }

    @Test("A configuration that cannot work is refused with the reason")
    func badConfigurations() async throws {
        func error(_ change: (inout FCMSimulatorConfiguration) -> Void) async throws -> SimulatorError.Code? {
            let configuration = try FCMFixture.configured(change)
            let error = await #expect(throws: SimulatorError.self) { _ = try await FCMSimulator.start(configuration) }
            return error?.code
        }
        #expect(try await error { $0.accounts = [] } == .configurationInvalid)
        #expect(try await error { $0.accessTokenSeconds = 0 } == .configurationInvalid)
        #expect(try await error { $0.projectID = "a/b" } == .configurationInvalid)
        #expect(try await error { $0.host = "0.0.0.0" } == .configurationInvalid)
        #expect(try await error { $0.accounts[0].publicKeysPEM = ["k": "no key"] } == .keyInvalid)
        #expect(try await error { $0.recordFile = "/nowhere/at/all" } == .fileFailed)
        try await FCMFixture.run { fixture in
            let port = fixture.simulator.port
            let codes = [try await error { $0.port = port }, try await error { $0.http1Port = port }]
            #expect(codes == [.listenFailed, .listenFailed])
        }
    }

    @Test("The date is the simulator's, in the form of RFC 9110")
    func dates() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var seconds: [Int64] = [0, 68_169_600, 951_782_400, 951_868_800, 1_709_164_799, 4_102_444_800]
        seconds += (0..<2_000).map { _ in .random(in: 0...10_000_000_000) }
        for second in seconds {
            #expect(HTTPDate.text(second) == formatter.string(from: Date(timeIntervalSince1970: Double(second))))
        }
    }
}
