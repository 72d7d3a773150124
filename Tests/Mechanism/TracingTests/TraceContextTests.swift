import PushTestKit
import Testing
import Tracing

@Suite("The context of a trace")
struct TraceContextTests {
    /// The example of the standard, section 3.2.2.5.
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("The standard's example is read, and written as it came")
    func example() throws {
        let context = try #require(TraceContext(traceParent: Self.example))
        #expect(context.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(context.spanID.description == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.traceParent == Self.example)
    }

    @Test(
        "Of the flags of version 00 those count that have a meaning",
        arguments: [("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("fe", "02"), ("ff", "03")])
    func flags(_ came: String, _ counts: String) throws {
        let context = try #require(TraceContext(traceParent: Self.example.dropLast(2) + came))
        #expect(context.traceParent == Self.example.dropLast(2) + counts)
    }

    @Test("Of a version to come the members of version 00 count, whatever follows after a dash")
    func futureVersions() throws {
        for (version, rest) in [("01", ""), ("cc", "-what-the-future-will-be-like"), ("fe", "-"), ("01", "-x")] {
            let text = version + Self.example.dropFirst(2) + rest
            #expect(try #require(TraceContext(traceParent: text)).traceParent == Self.example, "\(text)")
        }
        let long = "01" + Self.example.dropFirst(2) + "-" + String(repeating: "a", count: 456)
        #expect(TraceContext(traceParent: long) != nil)
        #expect(TraceContext(traceParent: long + "a") == nil)
    }

    @Test(
        "What is malformed is no context",
        arguments: [
            "", "00", "00-1", "00-x",
            // Version ff; a version that is no number; one that is too long or too short.
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "000-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            // Numbers that are zero.
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            // Upper case, other letters, and signs that a lenient parser of numbers takes.
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736- 0f067aa0ba902b7-01",
            // Version 00 ends with its flags.
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-010",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            // Dashes elsewhere, blanks around, letters of other scripts.
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
            "00-4bf92f3577b34da6-a3ce929d0e0e473600f067aa0ba902b7-01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0١",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\u{0}",
        ])
    func malformed(_ text: String) {
        #expect(TraceContext(traceParent: text) == nil)
    }

    @Test("Every context is read as it was written, and no text with one character changed to another is taken for it")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let traceID = try #require(TraceID(high: random.next(), low: random.next()))
            let spanID = try #require(SpanID(random.next()))
            let flags = TraceContext.Flags(rawValue: UInt8.random(in: 0...3, using: &random))
            let context = TraceContext(traceID: traceID, spanID: spanID, flags: flags)
            #expect(TraceContext(traceParent: context.traceParent) == context)
            var bytes = Array(context.traceParent.utf8)
            // Behind the version, and before the flags, of which some have no meaning.
            let index = Int.random(in: 2..<53, using: &random)
            bytes[index] = UInt8(truncatingIfNeeded: Int(bytes[index]) + Int.random(in: 1...255, using: &random))
            #expect(bytes.withUnsafeBufferPointer { TraceContext(traceParent: $0) } != context)
        }
    }

    @Test("Numbers of which all bits are zero are none")
    func zero() {
        #expect(TraceID(high: 0, low: 0) == nil)
        #expect(SpanID(0) == nil)
        #expect(TraceID(high: 0, low: 1)?.description == "00000000000000000000000000000001")
        #expect(TraceID(high: 1, low: 0)?.description == "00000000000000010000000000000000")
    }
}
