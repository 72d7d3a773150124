import Essentials
import Testing

@testable import ServiceClient

@Suite("The schedule of access tokens")
final class AccessTokenScheduleTests {
    private static let down = AccessTokenFailure(reason: "down", isRefusal: false)

    private var schedule = AccessTokenSchedule()

    private func at(_ seconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (1_000 + seconds) * 1_000_000_000)
    }

    private func need(_ now: MonotonicTime) -> AccessTokenSchedule.Availability { schedule.needed(at: now) }

    private func begin(_ now: MonotonicTime) -> Bool { schedule.beginFetch(at: now) }

    /// The seconds at which the next fetch is due.
    private func due() throws -> UInt64 { try #require(schedule.due).nanoseconds / 1_000_000_000 - 1_000 }

    /// Fetches at that time.
    private func fetch(_ outcome: AccessTokenOutcome, at seconds: UInt64, lasting: UInt64 = 0) throws {
        let begins = begin(at(seconds))
        try #require(begins)
        schedule.ended(outcome, at: at(seconds + lasting))
    }

    private static func granted(_ lifeSeconds: Int) -> AccessTokenOutcome {
        .granted(token: "t", lifeSeconds: lifeSeconds)
    }

    @Test("Nothing is fetched before a token is needed, and then one at a time")
    func first() throws {
        #expect(!begin(at(0)))
        #expect(need(at(1)) == .pending)
        #expect(begin(at(1)))
        #expect(need(at(2)) == .pending)
        #expect(!begin(at(2)), "one fetch is under way")
        schedule.ended(Self.granted(3_599), at: at(3))
        #expect(need(at(3)) == .valid)
    }

    @Test("A token is replaced five minutes before it expires, a short-lived one at half its life")
    func early() throws {
        _ = need(at(0))
        try fetch(Self.granted(3_599), at: 0, lasting: 4)
        #expect(try due() == 3_299, "the life counts from the beginning of the fetch")
        try fetch(Self.granted(10), at: 3_299)
        #expect(try due() == 3_304)
    }

    @Test("While a fetch fails, the token stays in use until it expires, and the fetch is repeated ever later")
    func failing() throws {
        _ = need(at(0))
        try fetch(Self.granted(3_600), at: 0)
        var waits: [UInt64] = []
        var now: UInt64 = 3_300
        for _ in 0..<9 {
            try fetch(.failed(Self.down), at: now)
            waits.append(try due() - now)
            #expect(need(at(now)) == (now < 3_600 ? .valid : .none(Self.down)))
            now = try due()
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(need(at(3_600)) == .none(Self.down))
        try fetch(Self.granted(3_600), at: now)
        #expect(need(at(now)) == .valid)
        try fetch(.failed(Self.down), at: now + 3_300)
        #expect(try due() == now + 3_301, "a success begins the row anew")
    }

    @Test("An endpoint that asks for time gets it, and refused credentials are tried once a minute")
    func asked() throws {
        _ = need(at(0))
        try fetch(.failed(AccessTokenFailure(reason: "busy", isRefusal: false, retryAfterSeconds: 300)), at: 0)
        #expect(try due() == 300)
        let refusal = AccessTokenFailure(reason: "no", isRefusal: true)
        try fetch(.failed(refusal), at: 300)
        #expect(try due() == 360)
        #expect(need(at(300)) == .none(refusal))
    }

    @Test("A refused token is replaced at once, but not within a minute of its fetch")
    func refused() throws {
        _ = need(at(0))
        try fetch(Self.granted(3_600), at: 0)
        schedule.refused(at: at(59))
        #expect(need(at(59)) == .valid, "a service that refuses a fresh token refuses the account")
        schedule.refused(at: at(60))
        #expect(need(at(60)) == .pending)
        try fetch(Self.granted(3_600), at: 60)
        #expect(need(at(60)) == .valid)
    }

    @Test("A token that is refused while its successor is fetched does not begin another fetch")
    func refusedMeanwhile() throws {
        _ = need(at(0))
        try fetch(Self.granted(3_600), at: 0)
        #expect(begin(at(3_300)))
        schedule.refused(at: at(3_301))
        #expect(need(at(3_301)) == .pending)
        #expect(!begin(at(3_301)))
        schedule.ended(Self.granted(3_600), at: at(3_302))
        #expect(need(at(3_302)) == .valid)
    }

    @Test("No life is too long or too short for the arithmetic")
    func extremes() throws {
        for life in [1, 86_400, Int.max] {
            schedule = AccessTokenSchedule()
            _ = need(at(0))
            try fetch(Self.granted(life), at: 0)
            #expect(need(at(0)) == .valid)
        }
    }
}
