import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("Payloads of random notifications")
struct PayloadPropertyTests {
    private static let texts = ["", "Hello", "\"quoted\\\"", "line\nbreak\t\u{1}", "Grüße 👩‍👩‍👧", "\u{2028}", "null"]

    private func text(_ random: inout SeededGenerator) -> String {
        (Self.texts.randomElement(using: &random) ?? "") + String(Int.random(in: 0..<100, using: &random))
    }

    private func maybe<Value>(_ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> Value) -> Value? {
        Bool.random(using: &random) ? make(&random) : nil
    }

    private func localized(_ random: inout SeededGenerator) -> Notifications.Notification.LocalizedText {
        .init(key: text(&random), arguments: (0..<Int.random(in: 1...3, using: &random)).map { _ in text(&random) })
    }

    private func notification(_ random: inout SeededGenerator) -> Notifications.Notification {
        var notification = Notifications.Notification()
        notification.title = maybe(&random, text)
        notification.subtitle = maybe(&random, text)
        notification.body = maybe(&random, text)
        notification.localizedTitle = maybe(&random, localized)
        notification.localizedBody = maybe(&random, localized)
        notification.launchImage = maybe(&random, text)
        notification.badge = maybe(&random) { .random(in: 0...Int.max, using: &$0) }
        notification.sound = maybe(&random) { .named(text(&$0)) }
        notification.threadID = maybe(&random, text)
        notification.category = maybe(&random, text)
        notification.relevanceScore = maybe(&random) { Double(Int.random(in: 0...64, using: &$0)) / 64 }
        notification.interruptionLevel = maybe(&random) {
            Notifications.Notification.InterruptionLevel.allCases.randomElement(using: &$0) ?? .active
        }
        notification.isContentAvailable = Bool.random(using: &random)
        notification.isContentMutable = Bool.random(using: &random)
        notification.customData = (0..<Int.random(in: 0...2, using: &random)).map { index in
            CustomDatum(key: "\(index)" + text(&random), value: RawJSON(validated: Array(#"{"k":[true,1.5]}"#.utf8)))
        }
        return notification
    }

    @Test("Every random notification reads back, by another JSON parser, as what it said")
    func readsBack() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var builder = PayloadBuilder()
        for round in 0..<2_000 {
            let said = notification(&random)
            let bytes = builder.payload(of: said)
            let parsed = try JSONSerialization.jsonObject(with: Data(bytes))
            let read = try #require(parsed as? [String: Any], "seed \(seed) round \(round)")
            let aps = read["aps"] as? [String: Any] ?? [:]
            var isEqual = read.count == said.customData.count + (read["aps"] == nil ? 0 : 1)
            for datum in said.customData { isEqual = isEqual && (read[datum.key] as? [String: Any])?["k"] != nil }
            isEqual = isEqual && isSame(alert: aps["alert"], said)
            isEqual = isEqual && aps["badge"] as? Int == said.badge && aps["thread-id"] as? String == said.threadID
            isEqual = isEqual && aps["relevance-score"] as? Double == said.relevanceScore
            isEqual = isEqual && aps["category"] as? String == said.category
            isEqual = isEqual && aps["interruption-level"] as? String == said.interruptionLevel?.rawValue
            isEqual = isEqual && (aps["content-available"] as? Int == 1) == said.isContentAvailable
            isEqual = isEqual && (aps["mutable-content"] as? Int == 1) == said.isContentMutable
            if case .named(let name)? = said.sound { isEqual = isEqual && aps["sound"] as? String == name }
            #expect(isEqual, "seed \(seed) round \(round): \(String(decoding: bytes, as: UTF8.self))")
            guard isEqual else { return }
        }
    }

    private func isSame(alert: Any?, _ said: Notifications.Notification) -> Bool {
        if let text = alert as? String { return text == said.body }
        guard let alert = alert as? [String: Any] else { return said.hasNoAlert }
        return alert["title"] as? String == said.title && alert["subtitle"] as? String == said.subtitle
            && alert["body"] as? String == said.body && alert["loc-key"] as? String == said.localizedBody?.key
            && alert["title-loc-key"] as? String == said.localizedTitle?.key
            && (alert["loc-args"] as? [String] ?? []) == (said.localizedBody?.arguments ?? [])
            && alert["launch-image"] as? String == said.launchImage
    }
}

extension Notifications.Notification {
    /// Whether none of the texts is there that a random notification may have.
    fileprivate var hasNoAlert: Bool {
        title == nil && subtitle == nil && body == nil && localizedTitle == nil && localizedBody == nil
            && launchImage == nil
    }
}
