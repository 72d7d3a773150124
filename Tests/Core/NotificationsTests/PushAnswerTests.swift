import Notifications
import Testing

@Suite("Notifications: the answers of push services")
struct PushAnswerTests {
    private let token = DeviceToken(hexadecimal: "ab")

    @Test("An answer says what it was made with, and what is set later")
    func properties() {
        var answer = PushAnswer(
            status: 410, reason: "Unregistered", deadSinceMilliseconds: 7, retryAfterSeconds: 8, successor: token,
            messageName: "no name for a refusal", explanation: "The device is gone.")
        #expect(answer.status == 410)
        #expect(answer.reason == "Unregistered")
        #expect(answer.deadSinceMilliseconds == 7)
        #expect(answer.retryAfterSeconds == 8)
        #expect(answer.successor == token)
        #expect(answer.messageName == nil)
        #expect(answer.explanation == "The device is gone.")

        let before = answer
        answer.reason = "BadDeviceToken"
        answer.deadSinceMilliseconds = 9
        answer.retryAfterSeconds = nil
        answer.explanation = nil
        #expect((answer.reason, answer.deadSinceMilliseconds ?? 0) == ("BadDeviceToken", 9))
        #expect((answer.retryAfterSeconds, answer.explanation) == (nil, nil))
        #expect((before.reason, before.deadSinceMilliseconds ?? 0) == ("Unregistered", 7))
    }

    @Test("An accepted push has a name and no explanation")
    func names() {
        var answer = PushAnswer(status: 200, messageName: "projects/p/messages/1", explanation: "no refusal")
        answer.explanation = "still none"
        #expect(answer.messageName == "projects/p/messages/1")
        #expect(answer.explanation == nil)
    }

    @Test("Answers are equal if they say the same, however they came to it")
    func equality() {
        let plain = PushAnswer(status: 200)
        #expect(PushAnswer(status: 200, reason: "", messageName: nil) == plain)
        var emptied = PushAnswer(status: 429, retryAfterSeconds: 5)
        #expect(emptied != PushAnswer(status: 429))
        #expect(emptied == PushAnswer(status: 429, retryAfterSeconds: 5))
        emptied.retryAfterSeconds = nil
        #expect(emptied == PushAnswer(status: 429))
        #expect(Set([plain, PushAnswer(status: 200, explanation: "none"), emptied]).count == 2)
    }

    @Test("A result is a few words large, because it is copied several times on the way of every push")
    func size() {
        #expect(MemoryLayout<PushAnswer>.size <= 2 * MemoryLayout<Int>.size)
        #expect(MemoryLayout<AttemptResult>.size <= 5 * MemoryLayout<Int>.size)
    }
}
