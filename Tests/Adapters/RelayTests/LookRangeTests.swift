import Testing

@testable import Relay

@Suite("Where a relay looks for rows")
struct LookRangeTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("Each look that follows a fast one is at the whole table")
    func whole() {
        var range = LookRange()
        range.looked(from: 0, forNanoseconds: Self.second / 100, until: 5 * Self.second, finding: (7, 9))
        #expect(range.beginning(atNanoseconds: 5 * Self.second) == 0)
    }

    @Test("After a slow look others begin at its first row, or after the last that was ever found, for a while")
    func slow() {
        var range = LookRange()
        range.looked(from: 0, forNanoseconds: 1, until: 5 * Self.second, finding: (2, 6))
        range.looked(from: 0, forNanoseconds: 1, until: 8 * Self.second, finding: (7, 8))
        range.looked(from: 0, forNanoseconds: Self.second / 4, until: 10 * Self.second, finding: (7, 9))
        #expect(range.beginning(atNanoseconds: 10 * Self.second) == 7)
        // A look at a part of the table changes nothing.
        range.looked(from: 7, forNanoseconds: Self.second / 4, until: 11 * Self.second, finding: (8, 12))
        #expect(range.beginning(atNanoseconds: 14 * Self.second) == 7)
        #expect(range.beginning(atNanoseconds: 15 * Self.second) == 0)
        range.looked(from: 0, forNanoseconds: 1, until: 16 * Self.second, finding: nil)
        range.looked(from: 0, forNanoseconds: 3 * Self.second, until: 20 * Self.second, finding: nil)
        #expect(range.beginning(atNanoseconds: 29 * Self.second) == 13)
        #expect(range.beginning(atNanoseconds: 30 * Self.second) == 0)
    }

    @Test("Rows whose transactions were open for less than a second are before no look")
    func runningTransactions() {
        var range = LookRange()
        range.looked(from: 0, forNanoseconds: 1, until: 5 * Self.second, finding: (2, 6))
        range.looked(from: 0, forNanoseconds: 1, until: 8 * Self.second, finding: (7, 8))
        range.looked(from: 0, forNanoseconds: Self.second / 4, until: 8 * Self.second + 1, finding: (12, 12))
        // 7 was the number after the last row, three seconds before.
        #expect(range.beginning(atNanoseconds: 8 * Self.second + 2) == 7)
    }

    @Test("After a look that failed slowly others begin where they did before; a session that ended is no such look")
    func failed() {
        var range = LookRange()
        range.looked(from: 0, forNanoseconds: 1, until: 5 * Self.second, finding: (2, 6))
        range.looked(from: 0, forNanoseconds: Self.second / 4, until: 10 * Self.second, finding: (7, 9))
        range.failed(forNanoseconds: Self.second / 1_000, until: 20 * Self.second)
        #expect(range.beginning(atNanoseconds: 20 * Self.second) == 0)
        range.failed(forNanoseconds: 10 * Self.second, until: 30 * Self.second)
        #expect(range.beginning(atNanoseconds: 31 * Self.second) == 7)
        #expect(range.beginning(atNanoseconds: 40 * Self.second) == 0)
    }
}
