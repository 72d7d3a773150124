import Notifications
import PushTestKit
import Testing

@testable import ConnectionPool

@Suite("Recent rejections")
struct RecentRejectionsTests {
    private func token(_ number: Int) throws -> DeviceToken {
        var bytes = [UInt8](repeating: 0, count: 32)
        for index in 0..<4 { bytes[31 - index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return try #require(DeviceToken(bytes: bytes))
    }

    @Test("A token is in it from its rejection until it is accepted or an hour has passed")
    func forgetsInTime() throws {
        var rejections = RecentRejections(seed: 1)
        let (first, second) = (try token(1), try token(2))
        #expect(rejections.isEmpty)
        #expect(!rejections.contains(first, nowNanoseconds: 5))
        rejections.rejected(first, nowNanoseconds: 5)
        #expect(rejections.contains(first, nowNanoseconds: 5))
        #expect(!rejections.contains(second, nowNanoseconds: 5))
        #expect(rejections.contains(first, nowNanoseconds: 4 + RecentRejections.validityNanoseconds))
        #expect(!rejections.contains(first, nowNanoseconds: 5 + RecentRejections.validityNanoseconds))
        rejections.rejected(first, nowNanoseconds: 10)
        rejections.accepted(first)
        #expect(!rejections.contains(first, nowNanoseconds: 10))
    }

    @Test("Tokens of any length are told apart", arguments: [1, 3, 7, 8, 9, 31, 32, 33, 255, 256])
    func tellsLengthsApart(length: Int) throws {
        var rejections = RecentRejections(seed: 7)
        let token = try #require(DeviceToken(bytes: [UInt8](repeating: 0, count: length)))
        rejections.rejected(token, nowNanoseconds: 1)
        for other in 1...256 {
            let candidate = try #require(DeviceToken(bytes: [UInt8](repeating: 0, count: other)))
            #expect(rejections.contains(candidate, nowNanoseconds: 1) == (other == length))
        }
    }

    @Test("Few rejections take little memory, and none of them is forgotten as it grows")
    func grows() throws {
        var rejections = RecentRejections(seed: 3)
        #expect(rejections.capacity == 0)
        for number in 0..<20 { rejections.rejected(try token(number), nowNanoseconds: 1) }
        #expect(rejections.capacity <= 512)
        for number in 20..<4_000 { rejections.rejected(try token(number), nowNanoseconds: 2) }
        let known = try (0..<4_000).count { rejections.contains(try token($0), nowNanoseconds: 3) }
        #expect(known > 3_900 && rejections.capacity <= RecentRejections.tokensMaximum)
        let later = 2 + RecentRejections.validityNanoseconds
        let capacity = rejections.capacity
        for number in 5_000..<5_020 { rejections.rejected(try token(number), nowNanoseconds: later) }
        #expect(rejections.capacity == capacity, "what does not count any more makes room")
    }

    @Test("It agrees with a dictionary while there is room, and forgets old ones first when there is none")
    func agreesWithADictionary() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var rejections = RecentRejections(seed: seed)
        var oracle: [Int: UInt64] = [:]
        for now in 1...(20_000 as UInt64) {
            let number = Int.random(in: 0..<2_000, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                rejections.accepted(try token(number))
                oracle[number] = nil
            } else {
                rejections.rejected(try token(number), nowNanoseconds: now)
                oracle[number] = now
            }
            let probe = Int.random(in: 0..<2_000, using: &random)
            let isIn = rejections.contains(try token(probe), nowNanoseconds: now)
            // A full group of four may have dropped an old one; never is one in it that was not rejected.
            if isIn, oracle[probe] == nil { Issue.record("token \(probe) was not rejected, seed \(seed)") }
            if !isIn, let since = oracle[probe], since + 500 > now {
                Issue.record("token \(probe) was rejected just now, seed \(seed)")
            }
        }
        for number in 0..<100_000 { rejections.rejected(try token(number), nowNanoseconds: UInt64(number) + 30_000) }
        let kept = try (0..<100_000).filter { rejections.contains(try token($0), nowNanoseconds: 130_000) }
        #expect(kept.count <= RecentRejections.tokensMaximum)
        #expect(kept.filter { $0 >= 95_000 }.count > 4_900, "the newest are kept, seed \(seed)")
    }
}
