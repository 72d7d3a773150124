import Backoffice
import ChangeEvents
import Messages
import Notifications
import RegistryCore
import Testing

@Suite("What is counted of outcomes")
struct CampaignPushTests {
    /// An outcome of one push, as a worker tells it.
    private func pushes(
        _ outcome: String, event: String = #""type":"push.requested","campaign":"sale""#, push: String = "",
        attempt: Int = 1, device: String = "phone", app: String = "chat", endedAtMs: Int64 = 7_200_001
    ) throws -> [CampaignPush] {
        let body = """
            {"outcome":"\(outcome)","app":"\(app)","event":{"source":"/shop","id":"1",\(event)},"attempt":\(attempt),
             "pushes":[{"deviceId":"\(device)","platform":"APNS"\(push),"endedAtMs":\(endedAtMs)}]}
            """
        return try OutcomeReport(Message(body: Array(body.utf8))).campaignPushes
    }

    @Test("A push counts for its campaign, platform and hour, as matched and as what it is told to be")
    func counted() throws {
        let push = try #require(try pushes("accepted").first)
        #expect(push.campaign == CampaignKey(app: "chat", name: "sale") && push.platform == .apns && push.hour == 2)
        #expect(push.endings == [.matched, .accepted])
        #expect(try pushes("retrying").first?.endings == .matched)
        #expect(try pushes("token-dead").first?.endings == [.matched, .tokenDead])
        #expect(try pushes("rejected").first?.endings == [.matched, .tokenDead])
        #expect(try pushes("unmatched").isEmpty)
        #expect(try pushes("expired").first?.endings == [.matched, .expired])
        #expect(try pushes("coalesced").first?.endings == [.matched, .coalesced])
        #expect(try pushes("dead-lettered").first?.endings == [.matched, .deadLettered])
    }

    @Test("A push has the same digest in each outcome and attempt, and no other push has it")
    func digest() throws {
        let first = try pushes("retrying").first?.digest
        #expect(try pushes("accepted", attempt: 2, endedAtMs: 1).first?.digest == first)
        #expect(try pushes("accepted", device: "tablet").first?.digest != first)
        #expect(try pushes("accepted", push: #","subscriptionId":"cheap""#).first?.digest != first)
    }

    @Test("An event without campaign counts for its dataset or subscription, and a requested push for none")
    func derived() throws {
        let dataset = try pushes("accepted", event: #""type":"dataset.changed","datasetName":"notes""#)
        #expect(dataset.first?.campaign.name == "dataset:notes")
        let record = try pushes(
            "accepted", event: #""type":"record.created","recordType":"Song""#, push: #","subscriptionId":"cheap""#)
        #expect(record.first?.campaign.name == "subscription:cheap")
        #expect(try pushes("accepted", event: #""type":"push.requested""#).isEmpty)
    }

    @Test("A name that no worker writes counts for nothing, so that it keeps nothing else from being counted")
    func invalid() throws {
        #expect(try pushes("accepted", app: "a b").isEmpty)
        #expect(try pushes("accepted", app: "").isEmpty)
        for name in ["", #"a\nb"#, String(repeating: "n", count: EventLimits.campaignNameBytesMaximum + 1)] {
            #expect(try pushes("accepted", event: #""type":"push.requested","campaign":"\#(name)""#).isEmpty, "\(name)")
        }
        let longest = String(repeating: "n", count: EventLimits.nameBytesMaximum)
        let derived = try pushes(
            "accepted", event: #""type":"record.created""#, push: #","subscriptionId":"\#(longest)""#)
        #expect(derived.first?.campaign.name == "subscription:" + longest)
    }

    @Test("A time that no clock has counts for the nearest hour", arguments: [-5, 0, Int64.max])
    func bounded(milliseconds: Int64) throws {
        let hour = try #require(try pushes("accepted", endedAtMs: milliseconds).first?.hour)
        #expect(milliseconds > 0 ? (1...2_147_483_647).contains(hour) : hour == 0)
    }
}
