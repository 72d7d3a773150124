import Foundation
import JSON
import PushServiceSimulator
import PushTestKit
import Testing

@testable import FCMSimulator

/// `Scripts/send.py`: Google's own sender, which shares no code with us, unchanged but for the addresses.
@Suite("FCM: firebase-admin", .timeLimit(.minutes(20)))
struct FirebaseAdminTests {
    /// Starts a simulator for it, runs it, and gives its results and what the simulator saw.
    private func run() async throws -> (results: JSONValue, records: [RecordedMessage], summary: FCMSummary) {
        var configuration = FCMSimulatorConfiguration()
        configuration.projectID = FCMFixture.project
        configuration.http1Port = 0
        configuration.recordsInMemoryMaximum = 100
        let key = try ServiceAccountKey(projectID: FCMFixture.project)
        configuration.accounts = [key.account]
        configuration.script = try .lines(
            """
            {"token":"gone","answer":"unregistered"}
            {"token":"other","answer":"other-sender"}
            {"token":"busy","answer":"quota"}
            """)
        let simulator = try await FCMSimulator.start(configuration)
        let folder = try TemporaryFolder()
        let anchor = try folder.write("anchor.pem", simulator.trustAnchorPEM)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Scripts/run-firebase-admin"
        let result = try await CommandRunner.run(script, [anchor], input: try input(simulator, key), in: folder)
        try #require(
            result.exitCode == 0,
            """
            if the packages cannot be installed: deploy/bin/install-packages test, and a way to PyPI for the first run
            \(result.errors)
            """)
        let records = try await simulator.recorded()
        return (try JSONParser().parse(result.output), records, try await simulator.stop())
    }

    private func input(_ simulator: FCMSimulator, _ key: ServiceAccountKey) throws -> String {
        let http1 = "https://localhost:\(try #require(simulator.http1Port))"
        let members: [String: Any] = [
            "credentials": try JSONSerialization.jsonObject(
                with: Data(key.credentialsJSON(tokenURI: http1 + "/token").utf8)), "http1": http1,
            "http2": "https://localhost:\(simulator.port)",
            "device": FCMFixture.device, "installation": FCMFixture.installation, "gone": "gone-device",
            "other": "other-device", "busy": "busy-device",
        ]
        return String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
    }

    @Test("It sends, validates and understands every refusal, over HTTP/1.1 and HTTP/2")
    func sends() async throws {
        let (results, records, summary) = try await run()
        func name(_ value: JSONValue?) -> Bool {
            value?.string?.hasPrefix("projects/\(FCMFixture.project)/messages/0:") == true
        }
        #expect(name(results["good"]) && name(results["everything"]), "\(results)")
        #expect(results["dry_run"]?.string == "projects/\(FCMFixture.project)/messages/fake_message_id")
        #expect(results["unregistered"]?["class"]?.string == "UnregisteredError")
        #expect(results["unregistered"]?["text"]?.string == "Requested entity was not found.")
        #expect(results["sender"]?["class"]?.string == "SenderIdMismatchError")
        #expect(results["quota"]?["class"]?.string == "QuotaExceededError")
        let batch = results["batch"]?.elements ?? []
        try #require(batch.count == 6)
        #expect([0, 2, 3, 4].allSatisfy { name(batch[$0]) }, "\(results)")
        #expect(batch[1]["class"]?.string == "UnregisteredError")
        #expect(batch[5]["code"]?.string == "INVALID_ARGUMENT")
        #expect(batch[5]["text"]?.string == "Invalid data payload key: from")

        #expect(summary.accepted == 6 && summary.validated == 1 && summary.duplicates == 1)
        #expect(summary.tokens.issued == 2 && summary.tokens.refused == 0, "one token for each app")
        let kinds = records.filter { $0.status == 200 && !$0.isValidateOnly }.compactMap(\.target?.kind.rawValue)
        #expect(kinds.sorted() == ["condition", "fid", "token", "token", "token", "topic"])
        let everything = try #require(records.first { $0.collapseKey == "notes" })
        #expect(everything.ttl == "3.500000000s" && everything.priority == "HIGH" && everything.data == ["more": "1"])
        #expect(everything.notification?["image"] == "https://example.com/image.png")
        let payload = try JSONParser().parse(everything.payload)["message"]
        #expect(payload?["apns"]?["payload"]?["aps"]?["content-available"]?.int64 == 1)
        #expect(payload?["webpush"]?["notification"]?["title"]?.string == "Title")
    }
}
