import ChangeEvents
import JSON
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Receipts in the pushes of campaigns")
struct ReceiptRenderingTests {
    /// A stand-in for HMAC, which the core does not have: this is about where receipts go.
    private let receipts: ReceiptAuthentication

    init() throws {
        let key = try #require(CourierKey(bytes: Array(1...32)))
        receipts = ReceiptAuthentication(key) { message, key in
            (0..<32).map { index in message.reduce(key[index]) { $0 &* 31 &+ $1 } }
        }
    }

    /// The payload of a requested push to iPhones.
    private func payload(
        campaign: String?, reportsOpens: Bool = true, notification: Notification
    ) throws(EventRejection) -> [UInt8] {
        let push = RequestedPush(
            app: "chat", audience: .topic("news", app: "chat"), notification: notification, options: PushOptions(),
            campaign: campaign)
        var renderer = ContentRenderer(
            apps: [.init(routes: [Samples.app], identityPoolIDs: [], reportsOpens: reportsOpens)], receipts: receipts)
        let event = ChangeEvent(identifier: "1", source: "/shop", time: nil, kind: .push(push))
        return try renderer.validate(event, expiresAt: nil)[0].content.get().payload
    }

    private func receipt(in payload: [UInt8]) throws -> String? {
        try JSONParser().parse(payload)["apusReceipt"]?.string
    }

    @Test("A shown push of a campaign has one, which names the campaign, the app and the event")
    func shown() throws {
        let text = try #require(try receipt(in: payload(campaign: "sale", notification: Self.shown)))
        let receipt = try #require(OpenReceipt(text: text, mac: receipts))
        #expect(receipt.campaign == CampaignKey(app: "chat", name: "sale"))
        #expect(receipt.event == EventDigest(source: "/shop", identifier: "1").bytes)
    }

    @Test("A push without campaign, one that shows nothing, and one of an app without reports have none")
    func others() throws {
        #expect(try receipt(in: payload(campaign: nil, notification: Self.shown)) == nil)
        #expect(try receipt(in: payload(campaign: "sale", reportsOpens: false, notification: Self.shown)) == nil)
        var silent = Notification()
        silent.isContentAvailable = true
        #expect(try receipt(in: payload(campaign: "sale", notification: silent)) == nil)
    }

    @Test("A push that would be too large with its receipt goes without, and one that is too large is refused")
    func large() throws {
        var notification = Self.shown
        notification.body = String(repeating: "x", count: 4_050)
        let bytes = try payload(campaign: "sale", notification: notification)
        #expect(bytes.count <= 4_096)
        #expect(try receipt(in: bytes) == nil)
        notification.body = String(repeating: "x", count: 4_100)
        #expect(throws: EventRejection.self) { try payload(campaign: "sale", notification: notification) }
    }

    private static let shown: Notification = {
        var notification = Notification()
        notification.body = "Sale"
        return notification
    }()
}
