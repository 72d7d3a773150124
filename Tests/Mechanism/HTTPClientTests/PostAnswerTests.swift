import Testing

@testable import HTTPClient

@Suite("The answers to POSTs")
struct PostAnswerTests {
    private func read(_ lines: [String], keeping names: Set<String> = ["retry-after"]) -> PostAnswer? {
        var reader = PostAnswerReader(keptNames: names)
        for line in lines { _ = reader.take(line: Array("\(line)\r\n".utf8)) }
        return reader.finalAnswer
    }

    @Test("Interim answers announce the final one, which counts when its head has ended")
    func interim() {
        #expect(read(["HTTP/1.1 100 Continue", ""])?.status == nil)
        #expect(read(["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK"])?.status == nil)
        let answer = read(["HTTP/1.1 103 Early", "Retry-After: 1", "", "HTTP/1.1 503 Busy", "RETRY-AFTER:\t 9 ", ""])
        #expect(answer?.status == 503)
        #expect(answer?.fields.map(\.value) == ["9"])
    }

    @Test("Heads that go on without an end are not wanted")
    func endlessHeads() {
        var reader = PostAnswerReader(keptNames: [])
        var bytes = 0
        let lines = ["HTTP/1.1 103 Early Hints", "Link: " + String(repeating: "x", count: 100), ""]
        while lines.allSatisfy({ reader.take(line: Array("\($0)\r\n".utf8)) }), bytes < 1 << 20 { bytes += 130 }
        #expect(bytes > 0 && bytes <= PostAnswerReader.headBytesMaximum)
    }

    @Test("A status that is no number is no answer")
    func noStatus() {
        #expect(read(["HTTP/1.1 abc", ""])?.status == nil)
        #expect(read(["HTTP/1.1", ""])?.status == nil)
        #expect(read(["Retry-After: 1", ""])?.status == nil)
    }

    @Test(
        "Seconds are taken as they are, and a date from the time of the answer",
        arguments: [
            ("0", nil, 0), ("120", nil, 120), ("99999999999999999999", nil, 366 * 86_400),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 37), ("Sunday, 06-Nov-94 08:49:37 GMT", nil, 37),
            ("Sun Nov  6 08:49:37 1994", nil, 37),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", 30),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "nonsense", 37),
        ] as [(String, String?, Int)])
    func retryAfter(_ value: String, _ date: String?, _ seconds: Int) {
        #expect(RetryAfter.seconds(value, date: date, nowSeconds: 784_111_740) == seconds)
    }

    @Test(
        "What is neither is left alone, and so is a date that has passed",
        arguments: [
            "", "-1", "1.5", "soon", "12 parsecs", "Sun, 06 Nov", " 7", "Sun, 06 Nov 1994 08:48:37 GMT",
            "Sun, 06 Nov 1994 08:49:00 GMT",
        ])
    func unreadable(_ value: String) {
        #expect(RetryAfter.seconds(value, date: nil, nowSeconds: 784_111_740) == nil)
    }
}
