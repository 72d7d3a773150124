import PushTestKit
import Testing
import Tracing

@Suite("The answer of a collector")
struct TraceExportAnswerTests {
    @Test("Four statuses are worth another attempt, all others but successes are final")
    func statuses() {
        for status in 100...599 {
            switch TraceExportAnswer(status: status, body: []) {
            case .taken(0, ""): #expect((200...299).contains(status), "\(status)")
            case .retryable: #expect([429, 502, 503, 504].contains(status), "\(status)")
            case .refused: #expect(![429, 502, 503, 504].contains(status) && !(200...299).contains(status))
            case .taken: Issue.record("\(status)")
            }
        }
    }

    @Test("The reason is the message of the answer's status, printable and short")
    func reasons() {
        // google.rpc.Status: the code 3, then the message.
        let body: [UInt8] = [0x08, 0x03, 0x12, 0x07] + Array("bad\u{1b}[1m".utf8)
        #expect(
            TraceExportAnswer(status: 400, body: body) == .refused(reason: "the collector answered 400 (bad\\u001b[1m)")
        )
        let long: [UInt8] = [0x12, 0xe8, 0x07] + [UInt8](repeating: 0x61, count: 1_000)
        let reason = "the collector answered 503 (\(String(repeating: "a", count: 200))…)"
        #expect(TraceExportAnswer(status: 503, body: long) == .retryable(reason: reason))
        for body in [Array("<html>".utf8), [0x12], [0x12, 0x05, 0x61]] {
            #expect(TraceExportAnswer(status: 500, body: body) == .refused(reason: "the collector answered 500"))
        }
    }

    @Test("A success whose body is malformed, or has unknown fields, is one")
    func hostileSuccess() {
        let varint = [UInt8](repeating: 0xff, count: 9)
        for body: [UInt8] in [
            [0x0a], [0x0a, 0xff], [0x0a, 0x02, 0x08], varint, [0x08] + varint + [0xff, 0x01], [0x00], [0x07],
            [0x0a] + varint + [0x01], [0x0b, 0x0c], [0x0d, 1, 2, 3], [0x09, 1],
            [0x0a, 0x03, 0x0a, 0x01, 0x61],
        ] {
            #expect(TraceExportAnswer(status: 200, body: body) == .taken(rejectedSpanCount: 0, reason: ""), "\(body)")
        }
        let unknown: [UInt8] = [0x12, 0x01, 0x61, 0x0a, 0x0b, 0x1d, 1, 2, 3, 4, 0x08, 0x05, 0x21] + [0, 0, 0]
        #expect(TraceExportAnswer(status: 200, body: unknown) == .taken(rejectedSpanCount: 0, reason: ""))
        let known: [UInt8] = [0x12, 0x01, 0x61, 0x0a, 0x07, 0x1d, 1, 2, 3, 4, 0x08, 0x05]
        #expect(TraceExportAnswer(status: 200, body: known) == .taken(rejectedSpanCount: 5, reason: ""))
    }

    @Test("Random bytes neither crash nor count as rejected spans without end")
    func randomBytes() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &random)
            let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            guard case .taken(let rejected, let reason) = TraceExportAnswer(status: 200, body: body) else {
                Issue.record("\(body)")
                continue
            }
            #expect(rejected >= 0 && reason.utf8.count <= 1_300)
        }
    }
}
