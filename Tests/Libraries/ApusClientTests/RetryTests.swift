import PushTestKit
import Testing

@testable import ApusClient

@Suite("Retries of registrations")
struct RetryTests {
    private typealias Machine = RetryStateMachine

    private static func status(_ status: Int, _ code: String? = nil, after seconds: Int? = nil) -> Machine.Answer {
        .status(status, code: code, retryAfterSeconds: seconds)
    }

    @Test("Pauses double up to the longest, and are random between half and all of it")
    func pauses() {
        for (random, expected) in [(1.0, [1.0, 2, 4, 8, 10, 10]), (0.0, [0.5, 1, 2, 4, 5, 5])] {
            var settings = RetrySettings()
            settings.attemptsMaximum = 7
            settings.pauseSecondsMaximum = 10
            var machine = Machine(settings)
            for seconds in expected { #expect(machine.received(.none, random: random) == .pause(seconds: seconds)) }
            #expect(machine.received(.none, random: random) == .fail(.unreachable))
        }
    }

    @Test("A Retry-After is the least, and one that is too long fails at once")
    func retryAfter() {
        var machine = Machine(RetrySettings())
        #expect(machine.received(Self.status(429, after: 7), random: 0) == .pause(seconds: 7.5))
        #expect(machine.received(Self.status(503, after: 0), random: 0) == .pause(seconds: 1))
        #expect(machine.received(Self.status(503, after: -5), random: 0) == .pause(seconds: 2))
        #expect(machine.received(Self.status(429, after: 61), random: 0) == .fail(.tooManyRequests))
        #expect(machine.received(Self.status(503, after: .max), random: 0) == .fail(.serverFailed))
    }

    @Test("An access token is renewed once for a request")
    func renewal() {
        var machine = Machine(RetrySettings())
        #expect(machine.received(Self.status(401, "unauthenticated"), random: 0) == .renewAccessToken)
        #expect(machine.received(Self.status(503), random: 0) == .pause(seconds: 0.5))
        #expect(machine.received(Self.status(401), random: 0) == .fail(.unauthenticated))
    }

    @Test(
        "What would not succeed later fails with what the API says, or what the status means",
        arguments: [
            (400, "invalid", .invalid), (403, "quota-exceeded", .quotaExceeded), (403, nil, .forbidden),
            (404, "not-found", .notFound), (404, nil, .notFound), (409, "conflict", .conflict), (413, nil, .tooLarge),
            (415, "unsupported-media-type", .invalid), (302, nil, .invalid), (418, "new", .invalid),
            (501, nil, .serverFailed),
        ] as [(Int, String?, RegistrationError.Code)])
    func refusals(status: Int, code: String?, expected: RegistrationError.Code) {
        var machine = Machine(RetrySettings())
        #expect(machine.received(Self.status(status, code), random: 0) == .fail(expected))
    }

    @Test("Whatever is answered, a request ends after its attempts, and no pause is longer than allowed")
    func endsAlways() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var settings = RetrySettings()
            settings.attemptsMaximum = Int.random(in: -1...6, using: &generator)
            settings.firstPauseSeconds = Double.random(in: -1...100, using: &generator)
            settings.pauseSecondsMaximum = Double.random(in: 0...30, using: &generator)
            var machine = Machine(settings)
            var steps = 0
            answers: while true {
                steps += 1
                let seconds = Bool.random(using: &generator) ? nil : Int.random(in: -1...40, using: &generator)
                let answer: Machine.Answer =
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: .none
                    case 1: Self.status(401)
                    case 2: Self.status(429, after: seconds)
                    default: Self.status(500, after: seconds)
                    }
                switch machine.received(answer, random: Double.random(in: 0...1, using: &generator)) {
                case .pause(let pause):
                    #expect(pause >= 0 && pause <= 2 * settings.pauseSecondsMaximum, "seed \(seed)")
                case .renewAccessToken: break
                case .succeed, .fail: break answers
                }
            }
            #expect(steps <= max(1, settings.attemptsMaximum) + 1, "seed \(seed)")
        }
    }
}
