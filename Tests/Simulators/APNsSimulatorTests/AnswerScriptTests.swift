import PushServiceSimulator
import Testing

@testable import APNsSimulator

@Suite("The script")
struct AnswerScriptTests {
    private func script(_ text: String) throws -> AnswerScript {
        try AnswerScript(parsing: Array(text.utf8), nowMilliseconds: 5_000)
    }

    private func step(_ script: AnswerScript, _ token: String) -> TokenStep? {
        Array(token.utf8).withUnsafeBufferPointer { script.nextStep(forTokenDigits: $0) }
    }

    private func reasons(_ script: AnswerScript, _ token: String, _ count: Int) -> [String] {
        (0..<count).map { _ in
            guard let step = step(script, token) else { return "accepted" }
            return step.answer.map { $0.reason ?? "accepted" } ?? "silent"
        }
    }

    @Test("The entry with the most digits counts, in either case of the digits")
    func longestEntryCounts() throws {
        let script = try script(
            """
            {"token":"","answer":"status","status":503,"reason":"ServiceUnavailable"}
            {"token":"AB","answer":"unregistered","since":77}

            {"token":"abcd","answer":"bad-device-token"}
            """)
        #expect(reasons(script, "00ff", 1) == ["ServiceUnavailable"])
        #expect(reasons(script, "abff", 1) == ["Unregistered"])
        #expect(reasons(script, "ABCD", 1) == ["BadDeviceToken"])
        #expect(reasons(script, "abcdef", 2) == ["BadDeviceToken", "BadDeviceToken"])
        #expect(step(script, "abff")?.answer == .apns(.unregistered, timestampMilliseconds: 77))
    }

    @Test("Steps follow each other, counted for each token by itself")
    func stepsAreCountedPerToken() throws {
        let script = try script(
            """
            {"token":"aa","answer":"throttle","times":2}
            {"token":"aa","answer":"status","status":500,"reason":"InternalServerError","times":1}
            """)
        #expect(
            reasons(script, "aa00", 4) == ["TooManyRequests", "TooManyRequests", "InternalServerError", "accepted"])
        #expect(reasons(script, "aa01", 1) == ["TooManyRequests"])
        #expect(reasons(script, "bb01", 1) == ["accepted"])
    }

    @Test("All answers can be written")
    func allAnswers() throws {
        let script = try script(
            """
            {"token":"00","answer":"accept"}
            {"token":"01","answer":"silent"}
            {"token":"02","answer":"expired-token"}
            {"token":"03","answer":"not-for-topic"}
            {"token":"04","answer":"delay","delay":250}
            {"token":"05","answer":"throttle","delay":3}
            """)
        let all = ["00", "01", "02", "03", "04", "05"].map { reasons(script, $0, 1)[0] }
        #expect(all == ["accepted", "silent", "ExpiredToken", "DeviceTokenNotForTopic", "accepted", "TooManyRequests"])
        #expect(step(script, "04")?.delayMilliseconds == 250)
        let expired = step(script, "02")?.answer
        #expect(
            expired.map { String(decoding: $0.body, as: UTF8.self) } == #"{"reason":"ExpiredToken","timestamp":5000}"#)
    }

    @Test(
        "A line that is wrong is named, with what is wrong",
        arguments: [
            ("{\"token\":\"aa\",\"answer\":\"accept\"}\nnonsense", "line 2"),
            ("{\"answer\":\"accept\"}", "\"token\""),
            ("{\"token\":\"xy\",\"answer\":\"accept\"}", "hexadecimal"),
            ("{\"token\":\"aa\"}", "\"answer\""),
            ("{\"token\":\"aa\",\"answer\":\"explode\"}", "explode"),
            ("{\"token\":\"aa\",\"kind\":\"phone\",\"answer\":\"accept\"}", "pushtotalk"),
            ("{\"token\":\"aa\",\"answer\":\"status\"}", "\"status\""),
            ("{\"token\":\"aa\",\"answer\":\"status\",\"status\":500}", "\"reason\""),
            ("{\"token\":\"aa\",\"answer\":\"throttle\",\"times\":0}", "\"times\""),
            ("{\"token\":\"aa\",\"answer\":\"delay\",\"delay\":-1}", "\"delay\""),
            ("{\"token\":\"aa\",\"answer\":\"accept\",\"tiems\":1}", "tiems"),
        ])
    func wrongLines(text: String, expected: String) throws {
        let error = #expect(throws: SimulatorError.self) { try script(text) }
        #expect(error?.message.contains(expected) == true)
    }
}
