import APNsSimulator
import Foundation
import JSON
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Campaigns, counted from a worker's outcomes", .timeLimit(.minutes(10)))
struct WorkerCampaignTests {
    /// A fixture whose pushes are counted, with an API for devices.
    private func fixture(script: String = "") async throws -> WorkerFixture {
        let fixture = try await WorkerFixture(script: script, configuration: "[analytics]\nenabled = true")
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml", text.replacing("[[app]]", with: "[[app]]\noutcomes = [\"all\"]\nopens = true"))
        let applied = try await fixture.apus("topology", "apply")
        #expect(applied.exitCode == 0 && applied.output.contains(".outcomes.analytics"), "\(applied)")
        return fixture
    }

    private func event(_ identifier: String, campaign: String) -> String {
        """
        {"specversion": "1.0", "type": "push.requested", "source": "/shop", "id": "\(identifier)",
         "data": {"app": "chat", "campaign": "\(campaign)", "topic": "news", "notification": {"body": "Sale"}}}
        """.replacing("\n", with: "")
    }

    /// The sums of a campaign, as the registry has them.
    private func counts(_ name: String, _ fixture: WorkerFixture) throws -> CampaignCounts? {
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .readOnly)
        return try registry.campaign(CampaignKey(app: "chat", name: name))?.counts
    }

    private func post(_ report: String, to port: UInt16) -> PlainHTTP.Answer {
        PlainHTTP.request(
            "POST", "/v1/opens", port: port, body: report, fields: "Content-Type: application/json\r\n")
    }

    @Test("Counts equal what APNs answered, though a worker is killed and outcomes are told twice")
    func ledger() async throws {
        let script = (0..<20).map { #"{"token":"\#(TestDevices.token($0))","answer":"unregistered"}"# }
        let fixture = try await fixture(script: script.joined(separator: "\n"))
        try fixture.registerReaders(400)
        let first = try fixture.startWorker()
        try await first.readiness(200)
        let counter = try RunningCommand(["analytics"], in: fixture.folder)
        try await fixture.publish((0..<20).map { event("e\($0)", campaign: $0 < 15 ? "sale" : "news") })
        try await fixture.simulator.waitForAnswers(1_500)
        await first.killHard()
        let second = try fixture.startWorker()
        try await second.readiness(200)
        // The dead tokens are known after the first event that reaches them.
        let alive = 380
        try await eventually("all pushes") {
            guard try await fixture.broker.messageCount(queue: "\(fixture.namespace).work") == 0 else { return false }
            let accepted = try await fixture.simulator.recorded().filter { $0.status == 200 }
            return Set(accepted.map(\.apnsID)).count == 20 * alive
        }
        await second.drainCleanly()
        try await eventually("all counts") {
            try counts("sale", fixture)?.accepted ?? 0 >= 15 * alive
                && counts("news", fixture)?.accepted ?? 0
                    >= 5 * alive
        }
        counter.signal(SIGTERM)
        #expect(await counter.end().exitCode == 0)
        let recorded = try await fixture.simulator.recorded()
        let dead = Set(recorded.filter { $0.status == 410 }.map(\.apnsID)).count
        let sale = try #require(try counts("sale", fixture))
        let news = try #require(try counts("news", fixture))
        #expect(sale.accepted == 15 * alive && news.accepted == 5 * alive)
        // An event of the killed worker does not find a device that another event has told of and removed.
        #expect((20...dead).contains(Int(sale.tokenDead + news.tokenDead)), "\(sale), \(news), \(dead) answers 410")
        #expect(sale.matched == sale.accepted + sale.tokenDead && news.matched == news.accepted + news.tokenDead)
        try await fixture.stop()
    }

    @Test("A push of a campaign carries a receipt, with which its device reports once that it was opened")
    func opened() async throws {
        let fixture = try await fixture()
        try fixture.registerReaders(2)
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml", text.replacing("[admin]", with: "[registry]\nlisten = \"127.0.0.1:0\"\n[admin]"))
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let counter = try RunningCommand(["analytics"], in: fixture.folder)
        try await fixture.publish([event("e1", campaign: "sale"), TestEvents.pushRequested("e2", to: .topic("news"))])
        let pushes = try await eventually("the pushes") {
            try await fixture.simulator.recorded()
        } until: {
            $0.count == 4
        }
        let parser = JSONParser()
        let receipts = pushes.compactMap { try? parser.parse($0.payload)["apusReceipt"]?.string }
        #expect(receipts.count == 2 && Set(receipts).count == 1, "one for the campaign, none for the other event")
        let report =
            #"{"deviceId":"device-0","token":"\#(TestDevices.token(0))","receipts":["\#(receipts[0])"]}"#
        let port = try await worker.registryPort()
        let first = post(report, to: port)
        #expect(first.status == 200 && first.body.contains("counted"), "\(first)")
        let again = post(report, to: port)
        #expect(again.status == 200 && again.body.contains("repeated"), "\(again)")
        let forged = post(report.replacing(receipts[0].prefix(8), with: "AAAAAAAA"), to: port)
        #expect(!forged.body.contains("counted"), "\(forged)")
        try await eventually("the counts") { try counts("sale", fixture)?.accepted == 2 }
        #expect(try counts("sale", fixture)?.opened == 1)
        counter.signal(SIGTERM)
        #expect(await counter.end().exitCode == 0)
        let shown = try await fixture.apus("campaign", "show", "chat", "sale", "--json")
        #expect(shown.exitCode == 0 && shown.output.contains(#""opened":1"#), "\(shown)")
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
