import Testing

@testable import HTTPServer

@Suite("The budget of requests")
struct RequestBudgetTests {
    private let second: UInt64 = 1_000_000_000

    @Test("A bucket gives its burst at once, then its rate")
    func burstThenRate() {
        var budget = RequestBudget(ratePerSecond: 2, burst: 3)
        for _ in 0..<3 { #expect(budget.take("a", nowNanoseconds: second) == nil) }
        #expect(budget.take("a", nowNanoseconds: second) == 1)
        #expect(budget.take("a", nowNanoseconds: second + second / 2) == nil)
        #expect(budget.take("a", nowNanoseconds: second + second / 2) == 1)
    }

    @Test("Each credential has its own bucket")
    func separateBuckets() {
        var budget = RequestBudget(ratePerSecond: 1, burst: 1)
        #expect(budget.take("a", nowNanoseconds: 0) == nil)
        #expect(budget.take("a", nowNanoseconds: 0) == 1)
        #expect(budget.take("b", nowNanoseconds: 0) == nil)
    }

    @Test("A clock that goes back gives nothing away")
    func clockGoesBack() {
        var budget = RequestBudget(ratePerSecond: 1, burst: 1)
        #expect(budget.take("a", nowNanoseconds: 5 * second) == nil)
        #expect(budget.take("a", nowNanoseconds: second) == 1)
        #expect(budget.take("a", nowNanoseconds: 5 * second) == 1)
    }

    @Test("The table stays within its bound, and newcomers share a bucket when it is full")
    func bounded() {
        var budget = RequestBudget(ratePerSecond: 1, burst: 1, bucketsMaximum: 10)
        let refused = (0..<1_000).filter { budget.take("key \($0)", nowNanoseconds: 0) != nil }
        #expect(refused.count == 989)
        #expect(budget.count <= 11)
        #expect(budget.take("another", nowNanoseconds: 60 * second) == nil)
        #expect(budget.count == 1)
    }
}
