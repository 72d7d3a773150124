import Dispatcher
import Glibc
import JSON
import PushTestKit
import StructuredLogging
import Synchronization
import Testing

@Suite("The log")
struct LogSinkTests {
    private let clock = FixedClock()
    private let pipe = LogPipe()

    private func sink(_ format: LogSink.Format = .json) -> LogSink {
        LogSink(format: format, descriptor: pipe.writeEnd, nowMilliseconds: { [clock] in clock.milliseconds })
    }

    @Test("An entry is one line of JSON with time, level, event and fields")
    func jsonLine() {
        sink().logger(threshold: LogThreshold(.debug)).log(
            .warning, "amqp.lost",
            [
                .field("reason", "a \"quoted\"\nline\u{0}"), .field("count", -3), .field("seconds", 0.5),
                .field("isLast", true),
            ])
        #expect(
            pipe.lines() == [
                #"{"time":"2024-05-06T07:08:09.012Z","level":"warning","event":"amqp.lost","#
                    + #""reason":"a \"quoted\"\nline\u0000","count":-3,"seconds":0.5,"isLast":true}"#
            ])
    }

    @Test("On a terminal it is a line for people")
    func textLine() {
        sink(.text).logger(threshold: LogThreshold(.debug)).log(
            .info, "worker.started", [.field("app", "a\u{1B}[31m"), .field("n", 1)])
        #expect(pipe.lines() == [#"2024-05-06T07:08:09.012Z INFO    worker.started app="a\u001b[31m" n=1"#])
    }

    @Test("What is less important than the minimum is neither written nor computed")
    func minimum() {
        let logger = sink().logger(threshold: LogThreshold(.warning))
        let isComputed = Mutex(false)
        func fields() -> [LogField] {
            isComputed.withLock { $0 = true }
            return []
        }
        logger.log(.info, "quiet", fields())
        #expect(!isComputed.withLock { $0 })
        logger.log(.warning, "loud", fields())
        #expect(pipe.lines().count == 1)
    }

    @Test("A call site that logs too often is cut to a burst and one line a second, and the rest is counted")
    func rateLimit() {
        let logger = sink().logger(threshold: LogThreshold(.debug))
        func repeated() { logger.log(.info, "repeated") }
        for _ in 0..<100 { repeated() }
        logger.log(.info, "other")
        #expect(pipe.lines().count == 21)
        clock.advance(milliseconds: 999)
        repeated()
        #expect(pipe.lines().isEmpty)
        clock.advance(milliseconds: 1)
        repeated()
        repeated()
        let lines = pipe.lines()
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(#""event":"repeated","suppressed":81}"#) == true)
        clock.advance(milliseconds: 3_600_000)
        for _ in 0..<100 { repeated() }
        #expect(pipe.lines().count == 20)
    }

    @Test("At the level debug each entry is written, and the others are held back as ever")
    func debugIsNotHeldBack() {
        let logger = sink().logger(threshold: LogThreshold(.debug))
        for _ in 0..<200 { logger.log(.debug, "each") }
        for _ in 0..<200 { logger.log(.info, "some") }
        let lines = pipe.lines()
        #expect(lines.count { $0.contains("each") } == 200)
        #expect(lines.count { $0.contains("some") } == 20)
    }

    @Test("Nothing that could steer a terminal is in a line, as text or as JSON")
    func isPrintable() throws {
        let hostile = "\u{1B}[2J\u{9B}31m\u{202E}\u{7F} ü"
        for format in [LogSink.Format.text, .json] { sink(format).write(.info, "line", [.field("text", hostile)]) }
        let lines = pipe.lines()
        for line in lines {
            #expect(line.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
        }
        #expect(try JSONParser().parse(try #require(lines.last))["text"]?.string == hostile)
    }

    @Test("A clock that is set back silences nothing for longer than a second")
    func clockSetBack() {
        let logger = sink().logger(threshold: LogThreshold(.debug))
        func repeated() { logger.log(.info, "repeated") }
        for _ in 0..<30 { repeated() }
        clock.advance(milliseconds: -86_400_000)
        repeated()
        clock.advance(milliseconds: 1_000)
        _ = pipe.lines()
        repeated()
        #expect(pipe.lines().count == 1)
    }

    @Test("A line is at most 4096 bytes, whatever the fields are")
    func longFields() {
        let logger = sink().logger(threshold: LogThreshold(.debug))
        let long = String(repeating: "ä\u{1}\"", count: 10_000)
        for count in [1, 2, 40] {
            logger.log(.info, "long", (0..<count).map { _ in .field("text", long) } + [.field("last", 1)])
        }
        for format in [LogSink.Format.text] { sink(format).write(.info, "long", [.field("text", long)]) }
        let lines = pipe.lines()
        #expect(lines.count == 4)
        for line in lines { #expect(line.utf8.count < 4_096) }
        for line in lines.prefix(3) { #expect(throws: Never.self) { try JSONParser().parse(line) } }
        #expect(lines[2].contains(#""truncated":true"#))
        #expect(lines[0].contains(#""last":1"#))
    }

    @Test("A reader that does not keep up loses lines, which are counted, and blocks no thread")
    func stalledReader() {
        let sink = sink()
        let text = String(repeating: "x", count: 1_000)
        for index in 0..<20 {
            clock.advance(milliseconds: 1_000_000)
            for _ in 0..<20 { sink.write(.info, "flood", [.field("text", text), .field("index", index)]) }
        }
        let written = pipe.lines()
        #expect(written.count < 400)
        clock.advance(milliseconds: 1_000_000)
        sink.write(.info, "after", [])
        #expect(pipe.lines().first?.contains(#""dropped":\#(400 - written.count)"#) == true)
    }

    @Test("Lines of many threads do not mix")
    func threads() async {
        let sink = sink()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<5 { sink.write(.info, "shared", [.field("text", "abc")]) } }
            }
        }
        let lines = pipe.lines()
        #expect(lines.count == 20)
        #expect(Set(lines).count == 1)
    }

    @Test(
        "Times are written as RFC 3339 does",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func times(milliseconds: Int64, text: String) {
        clock.advance(milliseconds: milliseconds - clock.milliseconds)
        sink().write(.info, "time", [])
        #expect(pipe.lines().first?.contains(text) == true)
    }
}
