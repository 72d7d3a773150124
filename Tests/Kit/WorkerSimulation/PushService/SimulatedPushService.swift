import Notifications

/// The push service as a worker sees it: its answers by device, by app, and by its faults.
struct SimulatedPushService {
    /// How an app fares.
    enum Mood: Equatable {
        case well
        case slow(milliseconds: Int)
        /// No answer before the deadline.
        case silent
        case serverErrors
        case throttled
        case keyRejected
        /// There is no connection.
        case unreachable
    }

    /// How an attempt will end, and after what time.
    struct Verdict {
        var outcome: AttemptOutcome
        var isTaken: Bool
        var nanoseconds: UInt64
    }

    static let deadlineMilliseconds = 10_000

    private let world: World
    private var random: Randomness
    var moods = Array(repeating: Mood.well, count: World.appCount)
    /// For each worker the app whose environment it has wrong, so that it meets only foreign tokens.
    var wrongApps: [Int?]
    /// Whether the app 0 has its credentials refused by some devices, and by the development environment.
    var refusesSome = false
    /// How many of a million pushes of an app meet each single fault; none for the app 0, which is always served well.
    var faultsPerMillion = 0

    init(world: World, workerCount: Int, seed: UInt64) {
        self.world = world
        random = Randomness(seed: seed, model: "push service")
        wrongApps = Array(repeating: nil, count: workerCount)
    }

    /// Decides about an attempt.
    mutating func verdict(
        device: Int, isPresent: Bool, route: Int, worker: Int, atMilliseconds now: Int64
    ) -> Verdict {
        let app = route / 2
        let quick = random.nanoseconds(milliseconds: 15...60)
        switch moods[app] {
        case .unreachable:
            return Verdict(
                outcome: .notProcessed("no connection"), isTaken: false,
                nanoseconds: random.nanoseconds(milliseconds: 1...5_000))
        case .silent:
            return lost(random.nanoseconds(milliseconds: Self.deadlineMilliseconds...Self.deadlineMilliseconds + 5))
        case .keyRejected: return answer(403, "InvalidProviderToken", quick)
        case .throttled where random.below(3) > 0: return answer(429, "TooManyRequests", quick)
        case .serverErrors where random.below(4) > 0: return answer(500, "InternalServerError", quick)
        default: break
        }
        if refusesSome, isRefused(device, route: route) {
            return answer(403, route % 2 == 1 ? "BadEnvironmentKeyIdInToken" : "InvalidProviderToken", quick)
        }
        if wrongApps[worker] == app { return answer(400, "BadDeviceToken", quick) }
        if app != 0, faultsPerMillion > 0 {
            switch random.below(1_000_000) / max(faultsPerMillion, 1) {
            case 0: return lost(random.nanoseconds(milliseconds: 100...Self.deadlineMilliseconds))
            case 1: return Verdict(outcome: .notProcessed("GOAWAY"), isTaken: false, nanoseconds: quick)
            case 2: return answer(429, "TooManyRequests", quick)
            case 3: return answer(503, "ServiceUnavailable", quick)
            case 4: return answer(503, "Shutdown", quick)
            default: break
            }
        }
        var delay = quick
        if case .slow(let milliseconds) = moods[app] {
            delay = random.nanoseconds(milliseconds: milliseconds / 2...milliseconds)
        }
        return answer(device, isPresent, isSandbox: route % 2 == 1, delay, now)
    }

    /// Whether the credentials are refused for a device while some are: one in eight, and all of the sandbox.
    private func isRefused(_ device: Int, route: Int) -> Bool {
        route / 2 == 0 && (route % 2 == 1 || World.index(of: device) % 8 == 5)
    }

    /// Whether the credentials are never refused for a device of the app 0.
    func isNeverRefused(_ device: Int) -> Bool {
        world.devices[device].platform == .apns && World.index(of: device) % 8 != 5
    }

    private func answer(
        _ device: Int, _ isPresent: Bool, isSandbox: Bool, _ delay: UInt64, _ now: Int64
    ) -> Verdict {
        let known = world.devices[device]
        if (known.platform == .apnsSandbox) != isSandbox { return answer(400, "BadDeviceToken", delay) }
        guard isPresent, known.isServed else {
            var verdict = answer(410, "Unregistered", delay)
            let since = isPresent ? known.deadSinceMilliseconds : known.registeredAtMilliseconds
            verdict.outcome = .answered(
                PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: min(since, now)))
            return verdict
        }
        var verdict = answer(200, "", delay)
        verdict.isTaken = true
        return verdict
    }

    private func answer(_ status: Int, _ reason: String, _ delay: UInt64) -> Verdict {
        Verdict(
            outcome: .answered(PushAnswer(status: status, reason: reason)), isTaken: false, nanoseconds: delay)
    }

    private mutating func lost(_ delay: UInt64) -> Verdict {
        Verdict(outcome: .ambiguous("no answer"), isTaken: random.below(2) == 0, nanoseconds: delay)
    }
}

/// A push that a worker has sent and that has not ended.
struct SentPush {
    var worker: Int
    var generation: Int
    var identifier: UInt64
    var event: Int
    /// Its index among the pushes that the event asks for; nil if no event asks for it.
    var index: Int?
    var device: Int
    var outcome: AttemptOutcome
    /// Whether the service takes it, which only a worker that gets the answer learns.
    var isTaken: Bool
    var sentNanoseconds: UInt64
}

/// Finds the number of the event in what its pushes say.
///
/// All pushes of an event share their content, so the last one that was read is remembered.
struct PushNumber {
    private var last: PushContent?
    private var lastNumber = 0

    /// The number of the event of a push; nil if it says none.
    mutating func number(of content: PushContent) -> Int? {
        if content === last { return lastNumber }
        guard let number = Self.find(content.payload) else { return nil }
        last = content
        lastNumber = number
        return number
    }

    /// The digits between two signs `#`, or those of `syncCount`, which is a text.
    private static func find(_ bytes: [UInt8]) -> Int? {
        let isMark: (Int) -> Bool = { bytes[$0] == UInt8(ascii: "#") }
        var offset = 0
        while offset < bytes.count {
            if isMark(offset), let (number, end) = digits(bytes, from: offset + 1), end < bytes.count, isMark(end) {
                return number
            }
            if bytes[offset] == UInt8(ascii: "C"), bytes[offset...].starts(with: Array("Count\":\"".utf8)),
                let (number, _) = digits(bytes, from: offset + 8)
            {
                return number
            }
            offset += 1
        }
        return nil
    }

    private static func digits(_ bytes: [UInt8], from start: Int) -> (number: Int, end: Int)? {
        var offset = start
        var number = 0
        while offset < bytes.count, (48...57).contains(bytes[offset]), offset - start < 12 {
            number = number * 10 + Int(bytes[offset]) - 48
            offset += 1
        }
        return offset > start ? (number, offset) : nil
    }
}
