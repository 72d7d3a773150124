import DispatchCore
import Essentials
import Notifications
import PushTestKit

/// A push service with bad addresses, origins and environments, and an app that pushes to it through a
/// `CredentialMonitor`; in a time of its own.
struct CredentialMixture: CustomStringConvertible {
    struct Address {
        let token: DeviceToken
        let route: Int
        /// Whether the service accepts the key for it.
        let isGood: Bool
    }

    private struct Push {
        let address: Int
        let arrived: Int64
        /// Refusals of this push.
        var attempts = 0
    }

    private enum Event {
        case arrives(Push)
        case answered(Push)
    }

    private static let attemptsMaximum = 10
    private static let ladderSeconds = [1, 5, 30, 120, 900]

    private var generator: SeededGenerator
    private var monitor: CredentialMonitor
    private var addresses: [Address] = []
    private var isEnvironmentRefused = false
    private let hasOrigins: Bool
    private let perSecond: Double
    private var events: [(at: Int64, number: Int, event: Event)] = []
    private var eventCount = 0
    private var requestTimes: [Int64] = []
    private var refused: Int64?

    private(set) var acceptedCount = 0
    /// The longest time that a push to a good address took to be accepted.
    private(set) var longestWaitSeconds: Double = 0
    /// How long after the second refusal the key was found to be wrong.
    private(set) var foundOutSeconds: Double?

    /// The drawn values, and the results.
    var description: String {
        """
        \(addresses.count) addresses, \(addresses.count { !$0.isGood }) bad, origins \(hasOrigins), \
        environment refused \(isEnvironmentRefused), \(perSecond)/s, longest wait \(longestWaitSeconds) s, \
        found out after \(foundOutSeconds ?? -1) s, \(mostRequestsAMinute) requests a minute
        """
    }

    /// The most requests in any minute.
    var mostRequestsAMinute: Int {
        var (most, first) = (0, 0)
        for index in requestTimes.indices {
            while requestTimes[first] <= requestTimes[index] - 60_000 { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    init(seed: UInt64, isKeyWrong: Bool) {
        generator = SeededGenerator(seed: seed)
        monitor = CredentialMonitor(seed: seed)
        hasOrigins = Bool.random(using: &generator)
        perSecond = Double.random(in: 1...12, using: &generator)
        isEnvironmentRefused = !hasOrigins && Bool.random(using: &generator)
        let origins = hasOrigins ? Int.random(in: 2...4, using: &generator) : 1
        let badOrigins = Int.random(in: 0..<origins, using: &generator)
        let badShare = Double.random(in: 0...0.4, using: &generator)
        for number in 0..<Int.random(in: 4...80, using: &generator) {
            let route = !hasOrigins && number % 3 == 2 ? 1 : 0
            let origin = number % origins
            let isRefused =
                isEnvironmentRefused && route == 1 || origin < badOrigins
                || Double.random(in: 0..<1, using: &generator) < badShare
            addresses.append(
                Address(
                    token: Self.token(number, origin: hasOrigins ? origin : nil), route: route,
                    isGood: !isKeyWrong && !isRefused))
        }
    }

    private static func token(_ number: Int, origin: Int?) -> DeviceToken {
        let keys = WebPushKeys(
            publicKey: [4] + Array(repeating: 1, count: 64), authenticationSecret: Array(repeating: 2, count: 16))
        let token =
            origin.map {
                DeviceToken(
                    text: Array("https://o\($0).example/\(number)".utf8), details: PushAddressDetails(webPushKeys: keys)
                )
            } ?? DeviceToken(bytes: Array("address \(number)".utf8))
        guard let token else { preconditionFailure("a sample is a valid token") }
        return token
    }

    private mutating func schedule(_ event: Event, at time: Int64) {
        eventCount += 1
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if (events[middle].at, events[middle].number) < (time, eventCount) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        events.insert((time, eventCount, event), at: low)
    }

    /// Lets pushes to random addresses arrive for so long, and works off everything.
    mutating func run(seconds: Int) {
        publish(at: 1_000)
        while let next = events.popLast() {
            switch next.event {
            case .arrives(let push):
                if push.arrived == next.at, next.at < seconds * 1_000 {
                    publish(at: next.at + 1 + Int64(Double.random(in: 0...2_000, using: &generator) / perSecond))
                }
                arrives(push, next.at)
            case .answered(let push): answered(push, next.at)
            }
        }
    }

    private mutating func publish(at time: Int64) {
        let address = Int.random(in: addresses.indices, using: &generator)
        schedule(.arrives(Push(address: address, arrived: time)), at: time)
    }

    private mutating func arrives(_ push: Push, _ now: Int64) {
        let address = addresses[push.address]
        if let wait = monitor.wait(for: address.token, route: address.route, at: Samples.monotonic(now)) {
            return retry(push, wait, now)
        }
        requestTimes.append(now)
        schedule(.answered(push), at: now + Int64.random(in: 1...30, using: &generator))
    }

    private mutating func answered(_ push: Push, _ now: Int64) {
        let address = addresses[push.address]
        if address.isGood {
            _ = monitor.accepted(address.token, route: address.route, at: Samples.monotonic(now))
            acceptedCount += 1
            longestWaitSeconds = max(longestWaitSeconds, Double(now - push.arrived) / 1_000)
        } else {
            let (wait, _) = monitor.refused(
                address.token, route: address.route, isOfEnvironment: isEnvironmentRefused && address.route == 1,
                at: Samples.monotonic(now))
            if refused == nil { refused = now }
            retry(push, wait, now)
            if monitor.isKeyRefused, foundOutSeconds == nil { foundOutSeconds = Double(now - (refused ?? now)) / 1_000 }
        }
    }

    private mutating func retry(_ push: Push, _ wait: CredentialMonitor.Wait, _ now: Int64) {
        var push = push
        if wait.spendsAttempt { push.attempts += 1 }
        guard push.attempts < Self.attemptsMaximum, now < push.arrived + 900_000 else { return }
        let seconds = Self.ladderSeconds.first { $0 >= wait.seconds } ?? 900
        schedule(.arrives(push), at: now + Int64(seconds) * 1_000)
    }
}
