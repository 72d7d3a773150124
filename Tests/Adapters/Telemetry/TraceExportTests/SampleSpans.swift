import Testing
import Tracing

/// Spans for the tests.
enum SampleSpans {
    /// So many spans, with numbers and names that count up from a number.
    static func spans(_ count: Int, from first: Int = 1) throws -> [Span] {
        try (first..<first + count).map { number in
            let context = TraceContext(
                traceID: try #require(TraceID(high: 1, low: 2)), spanID: try #require(SpanID(UInt64(number))),
                flags: .sampled)
            return Span(
                "span \(number)", kind: .client, context: context, parent: nil, startNanoseconds: 1, endNanoseconds: 2)
        }
    }
}
