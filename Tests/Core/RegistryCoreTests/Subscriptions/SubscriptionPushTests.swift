import ChangeEvents
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import Testing

@Suite("Pushes of subscriptions: their size")
struct SubscriptionPushTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }
    private static let pieces = [
        "x", "\u{1}", "\"", "\\", "é", "漢", "👩‍👩‍👧‍👦", "e" + String(repeating: "\u{301}", count: 700), "{f}", "{g.h}",
        "{none}", "{{", "}",
        "{list}", " ",
    ]

    /// Texts of random pieces, most of them short.
    private struct Texts {
        var generator: SeededGenerator

        mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

        mutating func text(bytesMaximum: Int) -> String {
            let target = chance(3) ? bytesMaximum : Int.random(in: 1...min(60, bytesMaximum), using: &generator)
            let isUniform = chance(2)
            let only = SubscriptionPushTests.pieces.randomElement(using: &generator) ?? "x"
            var text = ""
            while true {
                let piece = isUniform ? only : SubscriptionPushTests.pieces.randomElement(using: &generator) ?? "x"
                guard text.utf8.count + piece.utf8.count <= target else { break }
                text += piece
            }
            return text.isEmpty ? "x" : text
        }

        mutating func optional(_ bytesMaximum: Int = NotificationInfo.textBytesMaximum) -> String? {
            chance(2) ? nil : text(bytesMaximum: bytesMaximum)
        }

        mutating func localized() -> NotificationInfo.LocalizedText? {
            guard chance(3) else { return nil }
            let count = chance(4) ? 64 : Int.random(in: 0...6, using: &generator)
            let fields = (0..<count).map { _ in ["f", "g.h", "list", "none"].randomElement(using: &generator) ?? "f" }
            return .init(key: text(bytesMaximum: chance(3) ? 1_500 : 40), argumentFields: fields)
        }

        mutating func subscription() -> RecordSubscription {
            var info = NotificationInfo()
            info.alertBody = optional()
            info.localizedAlert = localized()
            info.title = optional()
            info.localizedTitle = localized()
            info.subtitle = optional()
            info.localizedSubtitle = localized()
            info.alertActionLocalizationKey = optional()
            info.alertLaunchImage = optional()
            info.soundName = optional()
            info.category = optional(chance(3) ? 2_000 : 60)
            info.shouldBadge = chance(2)
            info.shouldSendContentAvailable = chance(2)
            info.shouldSendMutableContent = chance(2)
            info.collapseIDKey = chance(2) ? "f" : nil
            info.threadID = optional()
            info.additionalFields = chance(2) ? ["f", "g.h", "list"] : []
            let kind = SubscriptionKind.allCases.randomElement(using: &generator) ?? .query
            return RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: text(bytesMaximum: 256)),
                kind: kind, database: kind == .query ? .public : .private,
                zoneName: kind == .zone ? text(bytesMaximum: 256) : nil, recordType: kind == .query ? "Song" : nil,
                notification: info, savedAtMilliseconds: 0)
        }

        mutating func change(of subscription: RecordSubscription) -> RecordChange {
            var fields = RecordFields()
            for path in ["f", "g.h"] where !chance(4) {
                fields[path] = .of(text(bytesMaximum: chance(4) ? 60_000 : 900))
            }
            fields["list"] = .list((0..<20).map { _ in .of(text(bytesMaximum: 300)) })
            return RecordChange(
                operation: .updated, recordType: "Song", recordName: text(bytesMaximum: 256), fields: fields,
                zoneName: subscription.zoneName ?? text(bytesMaximum: 256), database: subscription.database,
                ownerID: text(bytesMaximum: 256))
        }
    }

    private static func push(_ subscription: RecordSubscription, _ change: RecordChange) -> SubscriptionPush {
        SubscriptionPush(
            subscription: PushedSubscription(subscription, row: 1), change: change,
            containerID: "iCloud." + String(repeating: "b", count: 255),
            notificationID: EventDigest(source: "s", identifier: "1").uuid)
    }

    /// The payload that is sent, and whether it shows nothing though it should.
    private static func rendered(_ push: SubscriptionPush) throws -> (content: [UInt8], isReduced: Bool) {
        let rules = NotificationRules(bundleID: "com.example.chat")
        let options = push.options(expirationSeconds: nil)
        return try push.rendered(badge: 1_000_000) { (notification) throws(EventRejection) in
            var builder = PayloadBuilder()
            let payload = builder.payload(of: notification)
            let headers = try rules.headers(for: notification, options: options)
            try NotificationRules.checkPayloadSize(payload.count, pushType: headers.pushType)
            return payload
        }
    }

    @Test(
        "Of any subscription that can be saved and any record a push fits that shows what it should", arguments: seeds)
    func everySavedOneFits(seed: UInt64) throws {
        var texts = Texts(generator: SeededGenerator(seed: seed))
        var (saved, refused) = (0, 0)
        for round in 0..<400 {
            let subscription = texts.subscription()
            let push = Self.push(subscription, texts.change(of: subscription))
            let (payload, isReduced) = try Self.rendered(push)
            #expect(payload.count <= 4_096, "seed \(seed), round \(round)")
            do {
                try SubscriptionRules.check(subscription)
                saved += 1
                let isEmpty = Self.showsNothing(subscription, push)
                #expect(!isReduced || isEmpty, "seed \(seed), round \(round): \(subscription.notification)")
            } catch {
                refused += 1
            }
        }
        #expect(saved > 30 && refused > 30, "\(saved) saved, \(refused) refused")
    }

    /// Whether all that a push would show is empty texts, which no length mends.
    private static func showsNothing(_ subscription: RecordSubscription, _ push: SubscriptionPush) -> Bool {
        var builder = PayloadBuilder()
        let rules = NotificationRules(bundleID: "com.example.chat")
        var shown = subscription
        shown.notification.additionalFields = []
        let plain = SubscriptionPush(
            subscription: PushedSubscription(shown, row: 1), change: push.change, containerID: "c",
            notificationID: push.notificationID)
        let whole = try? plain.rendered(badge: 1) { (notification) throws(EventRejection) in
            _ = builder.payload(of: notification)
            return try rules.headers(for: notification, options: plain.options(expirationSeconds: nil))
        }
        return whole?.isReduced ?? true
    }

    @Test("A subscription whose texts can never be cut enough is refused, and the error says what is too long")
    func refusesTooLong() throws {
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: "s"), recordType: "Song",
            savedAtMilliseconds: 0)
        subscription.notification.localizedAlert = .init(key: "KEY", argumentFields: Array(repeating: "f", count: 9))
        try SubscriptionRules.check(subscription)
        subscription.notification.category = String(repeating: "\u{1}", count: 300)
        let error = #expect(throws: RegistryError.self) { try SubscriptionRules.check(subscription) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("after every text and value is cut; APNs takes at most 4096") == true)
        #expect(
            error?.message.contains("category (1800), alertLocalizationArgs (1458)") == true, "\(error?.message ?? "")")
    }

    @Test(
        "The payload names the user whose subscription it is, and a device's subscription names nobody",
        arguments: [(SubscriptionOwner.user("anna"), true), (.device("d"), false)])
    func owner(owner: SubscriptionOwner, isNamed: Bool) throws {
        let subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: owner, subscriptionID: "s"), recordType: "Song",
            savedAtMilliseconds: 0)
        let change = RecordChange(operation: .created, recordType: "Song", recordName: "r", fields: RecordFields())
        let payload = String(decoding: try Self.rendered(Self.push(subscription, change)).content, as: UTF8.self)
        #expect(payload.contains(#""ckuserid":"anna","nid":"#) == isNamed, "\(payload)")
        #expect(payload.contains("ckuserid") == isNamed, "\(payload)")
    }

    @Test("A text of one endless character is cut like any other")
    func cutsEndlessCharacters() throws {
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: "s"), recordType: "Song",
            savedAtMilliseconds: 0)
        subscription.notification.alertBody = "{f}"
        try SubscriptionRules.check(subscription)
        let endless = "e" + String(repeating: "\u{301}", count: 30_000)
        let change = RecordChange(
            operation: .created, recordType: "Song", recordName: "r",
            fields: RecordFields([("f", .of("Mei" + endless))]))
        let (payload, isReduced) = try Self.rendered(Self.push(subscription, change))
        #expect(!isReduced)
        #expect(String(decoding: payload, as: UTF8.self).contains(#""alert":"Mei…""#))
    }
}
