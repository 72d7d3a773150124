import Essentials
import PushTestKit
import Testing
import WebPushTransport

@Suite("VAPID token schedule")
struct VAPIDTokenScheduleTests {
    private static let hour: Int64 = 3_600_000

    private let clocks = ManualClocks(nowMilliseconds: 1_800_000_000_000)
    private let schedule: VAPIDTokenSchedule

    init() { schedule = VAPIDTokenSchedule(signedAt: clocks.now) }

    @Test("A token serves for six hours, half of its life, and is then replaced")
    func renewal() {
        #expect(schedule.expiresAt == WallTime(milliseconds: 1_800_000_000_000 + 12 * Self.hour))
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
        clocks.advance(milliseconds: 6 * Self.hour - 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
        clocks.advance(milliseconds: 1)
        #expect(schedule.tokenNeeded(at: clocks.now) == .sign)
    }

    @Test("A refused token is replaced once it is an hour old, not before")
    func refusal() {
        #expect(schedule.tokenRefused(at: clocks.now) == .keep)
        clocks.advance(milliseconds: Self.hour - 1)
        #expect(schedule.tokenRefused(at: clocks.now) == .keep)
        clocks.advance(milliseconds: 1)
        #expect(schedule.tokenRefused(at: clocks.now) == .sign)
        #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
    }

    @Test("A wall clock that jumps, either way, makes the token due when an hour has really passed")
    func jump() {
        for jump in [-1, -20 * Self.hour, 6 * Self.hour, 1_000 * Self.hour] {
            let clocks = ManualClocks(nowMilliseconds: 1_800_000_000_000)
            let schedule = VAPIDTokenSchedule(signedAt: clocks.now)
            clocks.stepWall(milliseconds: jump)
            #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
            clocks.advance(milliseconds: Self.hour - 1)
            // A step back of less than what has passed since is none any more.
            #expect(schedule.tokenNeeded(at: clocks.now) == .keep)
            clocks.advance(milliseconds: 1)
            #expect(schedule.tokenNeeded(at: clocks.now) == (jump == -1 ? .keep : .sign))
        }
    }

    @Test("A refused token is replaced at once if the wall clock was corrected by an hour since, either way")
    func refusalAfterCorrection() {
        for jump in [Self.hour, -Self.hour, 500 * Self.hour, -500 * Self.hour] {
            clocks.stepWall(milliseconds: jump)
            #expect(schedule.tokenRefused(at: clocks.now) == .sign)
            clocks.stepWall(milliseconds: -jump)
            #expect(schedule.tokenRefused(at: clocks.now) == .keep)
        }
        clocks.stepWall(milliseconds: Self.hour - 1)
        #expect(schedule.tokenRefused(at: clocks.now) == .keep)
    }

    @Test("The ends of both clocks are times like any other")
    func extremes() {
        let moments = [
            Moment(wall: .earliest, monotonic: .init(nanoseconds: 0)),
            Moment(wall: .latest, monotonic: .init(nanoseconds: .max)),
            Moment(wall: .latest, monotonic: .init(nanoseconds: 0)),
            Moment(wall: .earliest, monotonic: .init(nanoseconds: .max)),
        ]
        for signedAt in moments {
            let schedule = VAPIDTokenSchedule(signedAt: signedAt)
            #expect(schedule.expiresAt <= .latest)
            for now in moments where now != signedAt {
                let isLater = now.monotonic > signedAt.monotonic
                #expect(schedule.tokenNeeded(at: now) == (isLater ? .sign : .keep))
            }
        }
    }

    @Test("While clocks run as they should, no token is replaced within an hour, nor used near its end")
    func randomUse() {
        var numbers = SeededGenerator(seed: 5)
        var schedule = schedule
        for _ in 0..<20_000 {
            clocks.advance(milliseconds: .random(in: 0...2 * Self.hour, using: &numbers))
            let now = clocks.now
            let isRefused = Int.random(in: 0..<10, using: &numbers) == 0
            let decision = isRefused ? schedule.tokenRefused(at: now) : schedule.tokenNeeded(at: now)
            if decision == .sign {
                #expect(now.wall - schedule.signedAt.wall >= Self.hour)
                schedule = VAPIDTokenSchedule(signedAt: now)
            }
            if !isRefused { #expect(schedule.expiresAt - now.wall > 6 * Self.hour) }
            #expect(schedule.expiresAt - now.wall <= 24 * Self.hour)
        }
    }
}
