import Foundation
import HTTPServer
import JSON
import PushServiceSimulator
import PushTestKit
import Testing

@testable import ADMSimulator

@Suite("Simulator of ADM: control, records and numbers")
struct ADMRecordTests {
    private static let prefix = "amzn1.adm-registration.v3."

    @Test("The file has a line for each answered message, with what was sent and what was answered")
    func records() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/records.ndjson"
        let handler = ADMRequests.handler(recordFile: try RecordFile(path: path, appends: false)) {
            $0.script = .lines(
                #"{"registration":"\#(Self.prefix)gone","answer":"unregistered"}"#,
                #"{"registration":"\#(Self.prefix)old","answer":"replaced","successor":"\#(Self.prefix)new"}"#)
        }
        let body = "{\"data\":{\"a\":\"caf\u{e9} \\\"x\\\"\"},\n\"consolidationKey\":\"k\",\"expiresAfter\":60}"
        for name in ["old", "old", "gone"] { _ = try ADMRequests.send(handler, to: Self.prefix + name, body: body) }
        _ = try ADMRequests.send(handler, body: "no JSON")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let records = try lines.map { try JSONParser().parse(String($0)) }
        #expect(records.map { $0["status"]?.int64 } == [200, 200, 400, 400])
        #expect(records.map { $0["reason"]?.string } == [nil, nil, "Unregistered", "InvalidData"])
        #expect(records.map { $0["duplicate"]?.bool } == [false, true, false, false])
        let first = try #require(records.first)
        #expect(first["token"]?.string == Self.prefix + "old" && first["successor"]?.string == Self.prefix + "new")
        #expect(first["consolidation_key"]?.string == "k" && first["expires_after"]?.int64 == 60)
        #expect(first["payload"]?["data"]?["a"]?.string == "caf\u{e9} \"x\"")
        #expect(records.last?["payload"]?.isNull == true)
    }

    @Test("The totals as JSON have all numbers, and the answers with their reasons, most frequent first")
    func totals() throws {
        let handler = ADMRequests.handler {
            $0.script = .lines(
                #"{"registration":"\#(Self.prefix)0","answer":"unavailable","retry_after":7,"times":1}"#,
                #"{"registration":"\#(Self.prefix)1","answer":"throttled"}"#)
        }
        let refused = try ADMRequests.send(handler, to: Self.prefix + "0")
        #expect(refused.fields.contains { $0.name.lowercased() == "retry-after" && $0.value == "7" })
        for name in ["0", "0", "1"] { _ = try ADMRequests.send(handler, to: Self.prefix + name) }
        let totals = try JSONParser().parse(handler.summary().json)
        for (name, count) in [
            ("answered", 4), ("accepted", 2), ("duplicates", 1), ("distinct_messages", 1), ("tokens_issued", 4),
        ] as [(StaticString, Int64)] {
            #expect(totals[name]?.int64 == count, "\(name)")
        }
        let answers = try #require(totals["answers"]?.array)
        #expect(answers.map { $0["status"]?.int64 } == [200, 429, 503])
        #expect(answers.map { $0["reason"]?.string } == [nil, "MaxRateExceeded", nil])
    }

    @Test("Control lines change devices, add and clear faults of access tokens, and revoke access tokens")
    func control() throws {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "secret+&="]
        let simulator = try ADMSimulator.start(configuration)
        defer { simulator.stop() }
        let handler = simulator.handler
        func execute(_ line: String) throws { try simulator.execute(Array(line.utf8)) }
        let device = Self.prefix + "a"
        try execute(#"{"registration":"\#(device)","answer":"unregistered","times":1}"#)
        let token = try ADMRequests.token(handler)
        #expect(try ADMRequests.send(handler, to: device, token: token).status == 400)
        #expect(try ADMRequests.send(handler, to: device, token: token).status == 200)
        try execute(#"{"registration":"\#(Self.prefix)b","answer":"internal"}"#)
        try execute(#"{"registration":"\#(device)","answer":"expired"}"#)
        #expect(try ADMRequests.send(handler, to: device, token: token).status == 401)
        #expect(try ADMRequests.send(handler, to: Self.prefix + "b", token: token).status == 500)
        try execute(#"{"registration":"\#(device)","answer":"accept"}"#)
        try execute(#"{"revoke":true}"#)
        #expect(try ADMRequests.send(handler, to: device, token: token).status == 401)
        try execute(#"{"fault":"answer","on":"oauth","status":500,"times":1}"#)
        try execute(#"{"fault":"answer","on":"oauth","status":503,"retry_after":20}"#)
        #expect(try (0..<3).map { _ in try ADMRequests.tokenAnswer(handler).status } == [500, 503, 503])
        simulator.removeFaults()
        #expect(try ADMRequests.tokenAnswer(handler).status == 200)
        #expect(simulator.summary().json.contains(#""faults":3"#))
    }

    @Test(
        "A control line that is none says what a line has",
        arguments: [
            ("[]", "JSON object"), (#"{"fault":"answer","status":500}"#, "oauth"),
            (#"{"fault":"answer","on":"oauth"}"#, "status"), (#"{"fault":"flood","on":"oauth"}"#, "silence"),
            (#"{"fault":"silence","on":"oauth","times":0}"#, "times"), (#"{"fault":"silence","ms":1}"#, "unknown"),
            (#"{"registration":"a"}"#, "answer"),
        ])
    func badLines(_ line: String, _ word: String) throws {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "secret"]
        let simulator = try ADMSimulator.start(configuration)
        defer { simulator.stop() }
        let error = #expect(throws: SimulatorError.self) { try simulator.execute(Array(line.utf8)) }
        #expect(error?.code == .scriptInvalid && error?.message.contains(word) == true, "\(String(describing: error))")
    }
}

extension RegistrationScript {
    /// A script that is known to be good.
    static func lines(_ lines: String...) -> RegistrationScript {
        (try? RegistrationScript(parsing: Array(lines.joined(separator: "\n").utf8))) ?? .empty
    }
}
