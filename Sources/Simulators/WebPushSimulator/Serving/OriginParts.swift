import PushServiceSimulator
import Synchronization

/// One origin's state, which its loops share.
final class OriginParts: Sendable {
    /// The beginning of the paths that redirects lead to.
    static let trapPath = "/trap"

    let name: String
    let profile: ServiceProfile
    let answers: ServiceAnswers
    let directory: SubscriptionDirectory
    let bindings: KeyBindings
    let eventMember: String?
    let refusesUnreadable: Bool
    /// The parts that all origins share: the answers for subscriptions, and the values that may be used only once.
    let script: ScriptBook<PushStep>
    let once: UsedOnce

    /// The messages that were accepted.
    let accepted = AcceptedIdentifiers()
    /// The VAPID tokens that were seen.
    let tokens = AcceptedIdentifiers()
    let store = Mutex(MessageStore())
    let burst = Mutex(CollapsibleBurst())
    let watch = Mutex(RetryAfterWatch())

    private let hostName: String
    private let port = Atomic<Int>(0)
    private let visits = Atomic<Int>(0)

    init(
        _ origin: WebPushSimulatorConfiguration.Origin, _ configuration: WebPushSimulatorConfiguration,
        script: ScriptBook<PushStep>, once: UsedOnce
    ) {
        name = origin.name
        profile = origin.profile
        hostName = origin.hostName
        answers = ServiceAnswers(profile: origin.profile)
        directory = SubscriptionDirectory(
            originName: origin.name, profile: origin.profile, count: configuration.subscriptionsPerOrigin,
            seed: configuration.seed)
        bindings = KeyBindings(configuration.applicationServerKey)
        eventMember = configuration.eventMember
        refusesUnreadable = configuration.refusesUnreadable
        self.script = script
        self.once = once
    }

    /// The host and, if it is not 443, the port.
    var authority: String {
        let port = port.load(ordering: .relaxed)
        return port == 443 ? hostName : "\(hostName):\(port)"
    }

    /// The origin, for example `https://localhost:8443` (RFC 6454 §6.2).
    var url: String { "https://" + authority }

    /// Says where it listens, before anybody can know.
    func listens(on port: UInt16) { self.port.store(Int(port), ordering: .relaxed) }

    /// Counts a request to the place that redirects lead to.
    func trapVisited() { visits.add(1, ordering: .relaxed) }

    /// How many requests came to the place that redirects lead to.
    var trapVisits: Int { visits.load(ordering: .relaxed) }
}

/// Watches whether a sender waits as long as `retry-after` says: a pure state machine, whose time is an argument.
struct RetryAfterWatch {
    /// The most subscriptions that are watched; one more makes the watch forget all others.
    private static let subscriptionsMaximum = 1_000_000

    private var notBefore: [Int: Int64] = [:]
    /// Pushes that came too early.
    private(set) var early = 0

    /// Notes that a push to a subscription has come.
    mutating func came(_ index: Int, nowMilliseconds now: Int64) {
        guard !notBefore.isEmpty, let milliseconds = notBefore.removeValue(forKey: index), now < milliseconds else {
            return
        }
        early += 1
    }

    /// Notes that the next push to a subscription is to come so much later.
    mutating func answered(_ index: Int, retryAfterSeconds seconds: Int64, nowMilliseconds now: Int64) {
        if notBefore.count >= Self.subscriptionsMaximum { notBefore.removeAll(keepingCapacity: true) }
        notBefore[index] = now + min(max(0, seconds), 86_400) * 1_000
    }
}

/// How fast FCM passes on messages with a topic: a pure state machine, whose time is an argument.
///
/// It takes the topic for a collapse key: 20 at once to each browser, then one in three minutes. The others are
/// accepted, and come later.
///
/// Source: Google, "Throttling and quotas", of collapsible messages; seen for Web Push as well (21 messages in 3.5
/// seconds, the next ones after 151 and 172 seconds; without a topic 28 in 3.1 seconds).
struct CollapsibleBurst {
    private static let burst: Int64 = 20
    private static let refillMilliseconds: Int64 = 180_000
    /// The most browsers that are watched; one more makes the watch forget all others.
    private static let browsersMaximum = 1_000_000

    private var browsers: [Int: (left: Int64, refilledMilliseconds: Int64)] = [:]

    /// Whether a message with a topic comes later, because too many came before it.
    mutating func isDelayed(_ index: Int, nowMilliseconds now: Int64) -> Bool {
        if browsers.count >= Self.browsersMaximum, browsers[index] == nil {
            browsers.removeAll(keepingCapacity: true)
        }
        var (left, refilled) = browsers[index] ?? (Self.burst, now)
        let added = max(0, now - refilled) / Self.refillMilliseconds
        left = min(Self.burst, left + added)
        refilled = left == Self.burst ? now : refilled + added * Self.refillMilliseconds
        defer { browsers[index] = (left, refilled) }
        guard left > 0 else { return true }
        left -= 1
        return false
    }
}
