import Notifications
import PushTestKit
import Testing

@testable import Dispatcher

@Suite("Labels of dead letters")
struct DeadLetterLabelTests {
    @Test(
        "A reason that is documented, or our own, is its own label",
        arguments: [
            "BadTopic", "INVALID_ARGUMENT", "MessageTooLarge", "VAPID_TOKEN_REFUSED", "errno-104", "BadWebPushTopic",
            "SUBSCRIPTION_ENDPOINT_REFUSED", "too-old", "attempts-exhausted", "unknown-app", "no-token",
        ])
    func known(reason: String) { #expect(DeadLetterLabel.label(of: reason) == reason) }

    @Test("Whatever services answer, there are few labels, and no known reason loses its own")
    func bounded() {
        var random = SeededGenerator(seed: 38)
        var labels: Set<String> = []
        for number in 0..<20_000 {
            let madeUp = [
                "Made\(number)", "errno-\(number + 2_000)", "status-\(number % 1_000)", "status-\(number)x", "",
                "x\(number)", String(repeating: "a", count: 41 + number % 9),
                String(decoding: (0..<8).map { _ in UInt8.random(in: 33...64, using: &random) }, as: UTF8.self),
            ]
            for reason in madeUp { labels.insert(DeadLetterLabel.label(of: reason)) }
        }
        #expect(labels.count <= 11 && labels.contains("other") && labels.contains("status-4xx"), "\(labels)")
        for reason in EventRejection.Reason.allCases.map(\.rawValue) + APNsReason.all + ADMReason.all {
            #expect(DeadLetterLabel.label(of: reason) == reason)
        }
    }
}
