import Crypto
import Essentials
import PushTestKit
import Testing

@testable import ChangeEvents
@testable import RegistryCore

/// Receipts, which come back from devices.
///
/// The form of a version never changes: devices keep receipts for weeks.
struct OpenReceiptTests {
    private let mac: ReceiptAuthentication
    private let campaign = CampaignKey(app: "chat", name: "spring é")

    init() throws { mac = try Self.authentication(first: 0) }

    /// The secret of a key of 32 bytes that count up.
    private static func authentication(first: UInt8) throws -> ReceiptAuthentication {
        let key = try #require(CourierKey(bytes: (0..<32).map { first + $0 }))
        return ReceiptAuthentication(key) { MessageAuthentication.code(of: $0, key: $1) }
    }

    private func receipt(hour: Int64 = 491_000) -> OpenReceipt {
        OpenReceipt(campaign: campaign, event: EventDigest(source: "/shop", identifier: "1"), hour: hour)
    }

    @Test("A receipt is read as it was written, with names of any length that the rules allow")
    func roundTrip() throws {
        let names = [
            campaign, CampaignKey(app: "a", name: "b"), CampaignKey(app: "a", name: CampaignRules.overflowName),
            CampaignKey(
                app: String(repeating: "a", count: 64),
                name: String(repeating: "n", count: EventLimits.campaignNameBytesMaximum)),
        ]
        for campaign in names {
            var receipt = receipt()
            receipt.campaign = campaign
            let text = try #require(receipt.text(mac: mac))
            #expect(OpenReceipt(text: text, mac: mac) == receipt)
            #expect(text.utf8.count <= OpenReceipt.textBytesMaximum)
        }
    }

    @Test("The text of version 1 is always the same")
    func form() throws {
        var receipt = receipt()
        receipt.event = Array(0..<16)
        // Made by another program: Python's hmac and base64.
        #expect(
            receipt.text(mac: mac)
                == "AQAHffgAAQIDBAUGBwgJCgsMDQ4PBGNoYXRzcHJpbmcgw6npbCxJVomSuv_dehMrHiUK")
    }

    @Test("A receipt with one changed bit is refused, and so is one with a part missing")
    func changed() throws {
        let text = try #require(receipt().text(mac: mac))
        let bytes = try #require(Base64URL.decode(text))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(OpenReceipt(text: Base64URL.encode(changed), mac: mac) == nil)
            }
            #expect(OpenReceipt(text: Base64URL.encode(Array(bytes.prefix(index))), mac: mac) == nil)
        }
        for changed in ["", "A", text + "A", text + "=", " " + text, String(text.dropLast()), text.uppercased()] {
            #expect(OpenReceipt(text: changed, mac: mac) == nil)
        }
    }

    @Test("Random bytes are refused; with a right proof they give a valid receipt or none")
    func random() {
        var generator = SeededGenerator(seed: .random(in: 0 ... .max))
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...480, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if !bytes.isEmpty, Bool.random(using: &generator) { bytes[0] = 1 }
            #expect(OpenReceipt(text: Base64URL.encode(bytes), mac: mac) == nil)
            // Nobody but a server can send such bytes: what is read then follows the rules, or is refused.
            let proven = OpenReceipt(text: Base64URL.encode(bytes + mac.code(of: bytes)), mac: mac)
            #expect(proven?.campaign.isValid ?? true)
            #expect(proven?.event.count ?? 16 == 16)
        }
    }

    @Test("The servers of another registry refuse it, and so does another use of the same key")
    func otherKeys() throws {
        let text = try #require(receipt().text(mac: mac))
        let other = try Self.authentication(first: 1)
        let plainKey = try #require(CourierKey(bytes: Array(0..<32)))
        let plain = ReceiptAuthentication(plainKey) { message, key in
            MessageAuthentication.code(of: message, key: message == Array("apus opens 1".utf8) ? key : plainKey.bytes)
        }
        for mac in [other, plain] {
            #expect(OpenReceipt(text: text, mac: mac) == nil)
        }
    }

    @Test("A campaign that breaks the rules for names has no receipt")
    func rules() {
        let names = ["", "a\u{0}", "a\n", String(repeating: "n", count: EventLimits.campaignNameBytesMaximum + 1)]
        for campaign in names.map({ CampaignKey(app: "chat", name: $0) }) + [CampaignKey(app: "a b", name: "n")] {
            var receipt = receipt()
            receipt.campaign = campaign
            #expect(receipt.text(mac: mac) == nil)
        }
    }

    @Test("A receipt is good for ninety days, and hours that do not fit become the nearest that do")
    func expiry() throws {
        let issued = receipt(hour: 491_000)
        let last = (issued.hour + 90 * 24 + 1) * 3_600_000
        #expect(!issued.isExpired(nowMilliseconds: last - 1))
        #expect(issued.isExpired(nowMilliseconds: last))
        for hour in [Int64.min, -1, Int64(UInt32.max) + 1, .max] {
            let text = try #require(receipt(hour: hour).text(mac: mac))
            let hours: [Int64] = [0, Int64(UInt32.max)]
            #expect(hours.contains(try #require(OpenReceipt(text: text, mac: mac)).hour))
        }
        #expect(!receipt(hour: .max).isExpired(nowMilliseconds: .max))
    }

    @Test("Nothing shows the secret")
    func secret() {
        #expect("\(mac)" == "receipt authentication" && Mirror(reflecting: mac).children.isEmpty)
    }
}
