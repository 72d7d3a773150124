import ConnectionPool
import Essentials
import Testing

/// A world with its own clocks: time passes, the wall clock is set, the machine is suspended.
private struct SimulatedClocks {
    var wallSeconds: Int64 = 1_800_000_000
    var monotonicSeconds: UInt64 = 5_000

    var now: ProviderTokenSchedule.Moment {
        .init(wallSeconds: wallSeconds, monotonicNanoseconds: monotonicSeconds * 1_000_000_000)
    }

    mutating func pass(seconds: Int64) {
        wallSeconds += seconds
        monotonicSeconds += UInt64(seconds)
    }
}

@Suite("Provider token schedule")
struct ProviderTokenScheduleTests {
    private let minute: Int64 = 60

    @Test("The first use mints, the next 50 minutes use the same token, and then another is minted")
    func renewsEveryFiftyMinutes() {
        var clocks = SimulatedClocks()
        var schedule = ProviderTokenSchedule()
        #expect(schedule.tokenNeeded(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
        schedule.minted(at: clocks.now)
        clocks.pass(seconds: 50 * minute - 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
        clocks.pass(seconds: 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
    }

    @Test("A token that APNs calls expired is replaced once it is 20 minutes old, not before")
    func replacesAnExpiredTokenAfterTwentyMinutes() {
        var clocks = SimulatedClocks()
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: clocks.now)
        clocks.pass(seconds: 20 * minute - 1)
        #expect(schedule.tokenExpired(at: clocks.now) == .keep)
        clocks.pass(seconds: 1)
        #expect(schedule.tokenExpired(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
    }

    @Test("A token whose iat lies in the future is replaced as soon as 20 minutes have passed")
    func replacesATokenFromTheFuture() {
        var clocks = SimulatedClocks()
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: clocks.now)
        clocks.wallSeconds -= 3 * 60 * minute
        clocks.pass(seconds: 20 * minute - 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
        clocks.pass(seconds: 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
    }

    @Test("A wall clock that jumps ahead makes the token due when 20 minutes have really passed")
    func waitsAfterAForwardJump() {
        var clocks = SimulatedClocks()
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: clocks.now)
        clocks.wallSeconds += 2 * 60 * minute
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
        clocks.pass(seconds: 20 * minute)
        #expect(schedule.tokenNeeded(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
    }

    @Test("A machine that began in the past replaces its token when its clock is right and APNs says expired")
    func replacesATokenFromThePast() {
        var clocks = SimulatedClocks()
        clocks.wallSeconds = 0
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: clocks.now)
        clocks.pass(seconds: 10)
        #expect(schedule.tokenExpired(at: clocks.now) == .keep)
        clocks.wallSeconds = 1_800_000_000
        #expect(schedule.tokenExpired(at: clocks.now) == .mint(issuedAtSeconds: clocks.wallSeconds))
    }

    @Test("A wall clock that swings to and fro mints no more than once in 20 minutes while APNs is content")
    func toleratesASwingingClock() {
        var clocks = SimulatedClocks()
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: clocks.now)
        var minted = 0
        for step in 0..<600 {
            clocks.pass(seconds: 30)
            clocks.wallSeconds += step % 2 == 0 ? 7_200 : -7_200
            guard case .mint = schedule.tokenNeeded(at: clocks.now) else { continue }
            schedule.minted(at: clocks.now)
            minted += 1
        }
        #expect((1...15).contains(minted), "five hours")
    }

    @Test("Extreme clock readings do not trap")
    func toleratesExtremes() {
        var schedule = ProviderTokenSchedule()
        schedule.minted(at: .init(wallSeconds: .min, monotonicNanoseconds: .max))
        #expect(schedule.tokenNeeded(at: .init(wallSeconds: .max, monotonicNanoseconds: 0)) == .keep)
        schedule.minted(at: .init(wallSeconds: .max, monotonicNanoseconds: 0))
        _ = schedule.tokenNeeded(at: .init(wallSeconds: .min, monotonicNanoseconds: .max))
    }

    @Test("Over days of uses, rejections and clock jumps, tokens are never minted too often nor used too old")
    func keepsBothLimitsUnderClockJumps() {
        for seed in (1...80 as ClosedRange<UInt64>) {
            var random = SplitMix(seed: seed)
            var clocks = SimulatedClocks()
            var schedule = ProviderTokenSchedule()
            var minted: ProviderTokenSchedule.Moment?
            for _ in 0..<3_000 {
                clocks.pass(seconds: .random(in: 0...180, using: &random))
                if Int.random(in: 0..<200, using: &random) == 0 {
                    clocks.wallSeconds += .random(in: -7_200...7_200, using: &random)
                }
                let isRejection = Int.random(in: 0..<20, using: &random) == 0
                let decision =
                    isRejection ? schedule.tokenExpired(at: clocks.now) : schedule.tokenNeeded(at: clocks.now)
                let before = minted.map { ages(of: $0, at: clocks.now) }
                switch decision {
                case .mint(let issuedAt):
                    #expect(issuedAt == clocks.wallSeconds)
                    if let before {
                        let age = isRejection ? max(before.monotonic, before.wall) : before.monotonic
                        #expect(age >= 20 * minute, "seed \(seed)")
                    }
                    schedule.minted(at: clocks.now)
                    minted = clocks.now
                case .keep where !isRejection:
                    guard let before else {
                        Issue.record("used a token that was never minted, seed \(seed)")
                        return
                    }
                    #expect(before.monotonic < 50 * minute, "seed \(seed)")
                    #expect(before.wall < 50 * minute || before.monotonic < 20 * minute, "seed \(seed)")
                    #expect(before.wall >= 0 || before.monotonic < 20 * minute, "from the future, seed \(seed)")
                case .keep:
                    break
                }
            }
        }
    }

    private func ages(
        of minted: ProviderTokenSchedule.Moment, at now: ProviderTokenSchedule.Moment
    ) -> (monotonic: Int64, wall: Int64) {
        (
            Int64((now.monotonicNanoseconds - minted.monotonicNanoseconds) / 1_000_000_000),
            now.wallSeconds - minted.wallSeconds
        )
    }
}
