import Notifications
import RegistryCore
import Testing

@testable import Backoffice

@Suite("What happened to one event")
struct EventHistoryTests {
    private var history = EventHistory(of: "6f2c", source: nil, deviceID: nil)

    private func outcome(
        _ kind: String, device: String = "phone", attempt: Int = 1, endedAtMs: Int = 1_000, event: String = "6f2c",
        source: String = "/shop", reason: String = ""
    ) -> [UInt8] {
        Array(
            """
            {"outcome":"\(kind)","app":"chat","event":{"source":"\(source)","id":"\(event)","type":"push.requested",
             "publishedAtMs":500},"attempt":\(attempt),"pushes":[{"deviceId":"\(device)","platform":"APNS",
             "reason":"\(reason)","endedAtMs":\(endedAtMs)}]}
            """.utf8)
    }

    @Test("Lines of logs, outcomes and dead letters of the event are told in their order")
    mutating func order() throws {
        try history.addOutcome(outcome("retrying", endedAtMs: 2_000, reason: "TooManyRequests"))
        try history.addOutcome(outcome("dead-lettered", attempt: 2, endedAtMs: 4_000, reason: "attempts"))
        let line = """
            {"time":"1970-01-01T00:00:01.000Z","level":"debug","event":"event.handled","source":"/shop","id":"6f2c",\
            "type":"push.requested","outcome":"matched","devices":1}
            """
        let isLine = history.addLogLine(Array(line.utf8))
        #expect(isLine)
        var letter = DeadLetterSummary(
            identifier: "00112233445566778899aabbccddeeff", reason: "attempts", deadLetteredMilliseconds: 5_000,
            bodySizeBytes: 1)
        letter.eventSource = "/shop"
        history.add(letter)
        #expect(history.entries.map(\.origin) == [.log, .outcome, .outcome, .deadLetter])
        #expect(history.entries[0].text == "event.handled type=push.requested outcome=matched devices=1")
        #expect(
            history.entries[2].text == "phone (APNS, chat): dead-lettered because of attempts in attempt 2")
        #expect(history.counts.map(\.kind) == [.deadLettered] && history.counts[0].count == 1)
    }

    @Test("Other events, and those of another source, are left out")
    mutating func others() throws {
        try history.addOutcome(outcome("accepted", event: "other"))
        try history.addOutcome(outcome("accepted"))
        try history.addOutcome(outcome("expired", source: "/blog"))
        #expect(history.entries.count == 1 && history.source == "/shop" && history.otherSources == ["/blog"])
        let line = #"{"time":"2026-01-01T00:00:00Z","level":"info","event":"x","id":"6f2","source":"/shop"}"#
        let isLine = history.addLogLine(Array(line.utf8))
        #expect(isLine && history.entries.count == 1)
    }

    @Test("An event without a source is one event in logs, outcomes and dead letters")
    mutating func withoutSource() throws {
        let line =
            #"{"time":"1970-01-01T00:00:01Z","level":"warning","event":"event.rejected","source":"-","id":"6f2c"}"#
        let isLine = history.addLogLine(Array(line.utf8))
        try history.addOutcome(outcome("dead-lettered", source: ""))
        history.add(
            DeadLetterSummary(
                identifier: "00112233445566778899aabbccddeeff", reason: "malformed", deadLetteredMilliseconds: 5_000,
                bodySizeBytes: 1))
        #expect(isLine && history.entries.map(\.origin) == [.log, .outcome, .deadLetter])
        #expect(history.otherSources.isEmpty)
    }

    @Test("A repetition is told once, and an older outcome does not count over a newer one")
    mutating func repetition() throws {
        try history.addOutcome(outcome("accepted", attempt: 2, endedAtMs: 9_000))
        try history.addOutcome(outcome("retrying"))
        try history.addOutcome(outcome("accepted", attempt: 2, endedAtMs: 9_000))
        try history.addOutcome(outcome("accepted", device: "tablet"))
        #expect(history.entries.count == 3)
        #expect(history.counts.map(\.kind) == [.accepted] && history.counts[0].count == 2)
    }

    @Test("A trace stands for the events that logs have with it, and only one device can be asked for")
    mutating func traceAndDevice() throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        var traced = EventHistory(of: trace, source: nil, deviceID: nil)
        let line = """
            {"time":"2026-01-01T00:00:00Z","level":"warning","event":"x","id":"1","source":"/s","trace_id":"\(trace)"}
            """
        let isLine = traced.addLogLine(Array(line.utf8))
        #expect(isLine && traced.entries.first?.text == "x (warning) trace_id=\(trace)")
        var one = EventHistory(of: "6f2c", source: nil, deviceID: "tablet")
        try one.addOutcome(outcome("accepted"))
        #expect(one.entries.isEmpty)
        try one.addOutcome(outcome("expired", device: "tablet"))
        #expect(one.entries.count == 1)
    }

    @Test("What is no line of a log, or no outcome, is refused, and what is shown is printable")
    mutating func hostile() throws {
        let areLines = ["worker started", #"{"a":1}"#].map { history.addLogLine(Array($0.utf8)) }
        #expect(areLines == [false, false])
        do throws(OutcomeReport.Fault) {
            try history.addOutcome(Array("{}".utf8))
            Issue.record("no outcome is refused")
        } catch { #expect(error.description.contains("outcome is missing")) }
        try history.addOutcome(outcome("accepted", device: #"a\u001b[31m"#))
        #expect(history.entries.first?.text.unicodeScalars.contains { $0.value < 0x20 } == false)
    }
}
