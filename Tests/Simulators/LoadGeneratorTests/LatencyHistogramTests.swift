import PushTestKit
import Testing

@testable import LoadGenerator

@Suite("The histogram of latencies")
struct LatencyHistogramTests {
    private static let shares = [0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1]

    @Test("Every percentile is that of the sorted values, at most 1 % above", arguments: 1...40)
    func agreesWithSorting(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var histogram = LatencyHistogram()
        var values: [Int64] = []
        for _ in 0..<Int.random(in: 1...3_000, using: &random) {
            let bits = Int.random(in: 1...36, using: &random)
            values.append(Int64.random(in: 0..<(1 << bits), using: &random))
        }
        for value in values { histogram.record(value) }
        values.sort()
        #expect(histogram.count == UInt64(values.count))
        #expect(histogram.maximum == UInt64(values[values.count - 1]) && histogram.minimum == UInt64(values[0]))
        #expect(histogram.sum == values.reduce(0) { $0 + UInt64($1) })
        for share in Self.shares {
            let rank = min(max(1, Int((share * Double(values.count)).rounded(.up))), values.count)
            let exact = Double(values[rank - 1])
            let found = Double(histogram.percentile(share))
            #expect(found >= exact && found <= exact * 1.01, "seed \(seed): \(share) is \(exact), not \(found)")
        }
    }

    @Test("An empty histogram has zeros, a negative value counts as 0, a huge one as the largest")
    func borders() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.99) == 0 && histogram.mean == 0)
        histogram.record(-5)
        histogram.record(.max)
        #expect(histogram.minimum == 0 && histogram.maximum == LatencyHistogram.valueMaximum)
        histogram.removeAll()
        #expect(histogram.count == 0 && histogram.percentile(1) == 0)
    }
}
