import Testing

@testable import RegistryAPI

@Suite("The idempotency keys that a process has published")
struct RecentKeysTests {
    @Test("A key stands for the content of its first use, until its time has passed")
    func time() {
        var keys = RecentKeys(rememberMilliseconds: 1_000)
        let uses: [(key: Int64, content: Int64, milliseconds: Int64)] = [
            (1, 1, 0), (1, 1, 500), (1, 2, 999), (1, 2, 1_000), (1, 1, 1_001), (2, 1, 1_001),
        ]
        let answers = uses.map { keys.isReused($0.key, for: $0.content, at: $0.milliseconds) }
        #expect(answers == [false, false, true, false, true, false])
    }

    @Test("The oldest keys are forgotten when there are too many")
    func bound() {
        var keys = RecentKeys(rememberMilliseconds: 1_000)
        let count = 3 * RecentKeys.countMaximum
        let reusedCount = (0..<count).count { keys.isReused(Int64($0), for: 1, at: 0) }
        #expect(reusedCount == 0)
        // From the newest on, because a look at a forgotten key pushes out the oldest that is kept.
        let kept = (0..<count).reversed().prefix { keys.isReused(Int64($0), for: 2, at: 0) }
        #expect(kept.count == RecentKeys.countMaximum)
    }

    @Test("Without a time nothing is kept")
    func off() {
        var keys = RecentKeys(rememberMilliseconds: 0)
        let answers = [1, 2].map { keys.isReused(1, for: $0, at: 0) }
        #expect(answers == [false, false])
    }
}
