public import Essentials
public import Notifications

/// Finds out what a refusal of credentials speaks for: an address, an origin, an environment, or the key of an app.
///
/// A push service refuses credentials for many reasons: the key was revoked, it is not for this environment, one
/// browser's subscription was made with another key, one server of the service errs. So a refusal counts for its own
/// address alone until *different* addresses of the same scope are refused.
///
/// | scope | refused, without an acceptance between | consequence |
/// |---|---|---|
/// | has accepted lately | one address | the address waits, on a ladder of its own |
/// | has accepted lately | 8 addresses, or 2 that it accepted before | the scope is paused |
/// | has not, or only these | twice; once, if the reason is the environment, or other origins refuse | it is paused |
///
/// As long as a scope is paused for one address only, that address alone waits.
///
/// A scope is an environment of APNs, the whole of FCM or ADM, or one origin of browsers: so a paused scope never
/// stops another. A paused scope gets probes: few, because a refused key must not cost more than some ten requests a
/// minute, and to addresses that it accepted before, if there are such. Any acceptance ends the pause.
///
/// The usual push costs two comparisons: an acceptance is noted every `sampleMilliseconds` while nothing is refused.
public struct CredentialMonitor: Sendable {
    /// The pushes that one piece of evidence speaks for.
    public struct Scope: Hashable, Sendable {
        /// The route of the transport: an environment of APNs, a project of FCM, the browsers' services of an app.
        public let route: Int
        /// The digest of a browser's origin; 0 for services with one origin.
        let origin: UInt64

        /// Whether it is one of many origins that anybody may name.
        var isOrigin: Bool { origin != 0 }
    }

    /// Why a push waits.
    public struct Wait: Hashable, Sendable {
        /// Whether only the address is in trouble, so that the push spends an attempt.
        public let spendsAttempt: Bool
        /// How long to wait at least.
        public let seconds: Int
    }

    /// A change of a scope.
    public enum Change: Hashable, Sendable {
        /// It is paused from now on.
        case paused(Scope)
        /// It accepts the credentials again.
        case resumed(Scope)
    }

    /// How long an acceptance counts.
    static let proofMilliseconds: Int64 = 600_000
    /// How often an acceptance is noted while nothing is refused.
    static let sampleMilliseconds: UInt64 = 100
    /// The most scopes that are remembered.
    public static let scopesMaximum = 64
    /// How many probes may follow each other; after that, there are two a minute.
    public static let probesMaximum = 5
    /// How long a paused scope lets refused addresses wait for another one to be the probe.
    public static let otherProbesMilliseconds: Int64 = 15_000
    /// The longest wait of a push whose environment or key is refused.
    static let waitSecondsMaximum = 30
    /// The longest wait of a push whose origin is refused while others accept the key.
    static let originWaitSecondsMaximum = 900
    /// The time between two looks whether all is quiet again.
    private static let lookMilliseconds: UInt64 = 1_000

    private let seed: UInt64
    private var scopes: [Scope: CredentialEvidence] = [:]
    private var addresses = RefusedAddresses()
    /// The probes of a key that was accepted nowhere lately.
    private var probes = ProbeBudget()
    /// When the key was accepted last, in any scope.
    private var accepted: MonotonicTime?
    /// The time of the last event.
    private var latest = MonotonicTime(nanoseconds: 0)
    private var sampledRoute = -1
    private var nextSample = MonotonicTime(nanoseconds: 0)
    private var nextLook = MonotonicTime(nanoseconds: 0)
    /// Whether nothing has been refused lately.
    private(set) var isQuiet = true

    /// Creates a monitor that has seen nothing.
    ///
    /// - Parameter seed: keeps others from choosing tokens with equal digests.
    public init(seed: UInt64 = 0) { self.seed = seed }

    // MARK: Before a push

    /// Decides whether a push has to wait; if not, and its scope is paused, it is a probe.
    ///
    /// - Parameters:
    ///   - token: its address.
    ///   - route: its route of the transport.
    ///   - now: the time.
    /// - Returns: why it waits; nil if it may go out.
    public mutating func wait(for token: borrowing DeviceToken, route: Int, at now: MonotonicTime) -> Wait? {
        if isQuiet { return nil }
        latest = now
        let scope = Scope(route: route, origin: token.originDigest(seed: seed))
        let address = token.digest(seed: seed)
        if let evidence = scopes[scope], evidence.pausedSince != nil {
            if evidence.isOneAddressRefused, !addresses.contains(address) { return nil }
            return takesProbe(scope, address) ? nil : wait(of: scope)
        }
        guard let seconds = addresses.secondsToWait(address, at: now) else { return nil }
        return Wait(spendsAttempt: isProven(scope), seconds: seconds)
    }

    /// The wait of a push that its scope's pause keeps back; nil if none does.
    public func pause(of token: borrowing DeviceToken, route: Int) -> Wait? {
        if isQuiet { return nil }
        let scope = Scope(route: route, origin: token.originDigest(seed: seed))
        guard let evidence = scopes[scope], evidence.pausedSince != nil else { return nil }
        if evidence.isOneAddressRefused, !addresses.contains(token.digest(seed: seed)) { return nil }
        return wait(of: scope)
    }

    private mutating func takesProbe(_ scope: Scope, _ address: UInt64) -> Bool {
        guard var evidence = scopes[scope] else { return true }
        if addresses.contains(address), latest.milliseconds(since: evidence.probed) < Self.otherProbesMilliseconds {
            return false
        }
        let wasAccepted = evidence.hasAccepted(address)
        let isTaken =
            isKeyProven
            ? evidence.probes.take(wasAcceptedBefore: wasAccepted, at: latest)
            : probes.take(wasAcceptedBefore: wasAccepted, at: latest)
        guard isTaken else { return false }
        evidence.probed = latest
        evidence.probesOut = min(evidence.probesOut + 1, Self.probesMaximum)
        scopes[scope] = evidence
        return true
    }

    private func wait(of scope: Scope) -> Wait {
        let paused = scopes[scope]?.pausedSince.map { latest.milliseconds(since: $0) / 1_000 } ?? 0
        let isStranger = scope.isOrigin && isKeyProven && scopes[scope]?.accepted == nil
        let longest = isStranger ? Self.originWaitSecondsMaximum : Self.waitSecondsMaximum
        return Wait(spendsAttempt: false, seconds: max(1, min(Int(clamping: paused), longest)))
    }

    // MARK: Answers

    /// Whether a push on a route was accepted a moment ago, and nothing has been refused lately.
    func isAcceptanceKnown(route: Int, at now: MonotonicTime) -> Bool {
        isQuiet && route == sampledRoute && now < nextSample
    }

    /// A push was answered by something that says that the credentials are good.
    ///
    /// - Parameters:
    ///   - token: its address.
    ///   - route: its route of the transport.
    ///   - now: the time.
    /// - Returns: the scope that is not paused any more; nil if that has not changed.
    public mutating func accepted(_ token: borrowing DeviceToken, route: Int, at now: MonotonicTime) -> Change? {
        if isAcceptanceKnown(route: route, at: now) { return nil }
        latest = now
        accepted = now
        nextSample = now.advanced(byMilliseconds: Self.sampleMilliseconds)
        let scope = Scope(route: route, origin: token.originDigest(seed: seed))
        let address = token.digest(seed: seed)
        addresses.accepted(address)
        makeRoom(for: scope)
        let wasPaused = scopes[scope, default: CredentialEvidence()].accepted(address, at: now)
        // Each origin of browsers speaks for itself.
        let isSampled = !scope.isOrigin && scopes[scope]?.remembersEnough == true
        sampledRoute = isSampled ? route : -1
        look(now)
        return wasPaused ? .resumed(scope) : nil
    }

    /// A push was answered by a refusal of the credentials.
    ///
    /// - Parameters:
    ///   - token: its address.
    ///   - route: its route of the transport.
    ///   - isOfEnvironment: whether the reason speaks of the whole environment.
    ///   - now: the time.
    /// - Returns: how long the push waits, and the scope that is paused from now on.
    public mutating func refused(
        _ token: borrowing DeviceToken, route: Int, isOfEnvironment: Bool, at now: MonotonicTime
    ) -> (wait: Wait, change: Change?) {
        isQuiet = false
        latest = now
        let scope = Scope(route: route, origin: token.originDigest(seed: seed))
        let address = token.digest(seed: seed)
        let seconds = addresses.refused(address, at: now)
        makeRoom(for: scope)
        var evidence = scopes[scope] ?? CredentialEvidence()
        let wasPaused = evidence.pausedSince != nil
        if wasPaused, evidence.probesOut > 0 {
            evidence.probesOut -= 1
        } else {
            probes.charge(at: now)
        }
        // Where several origins refuse a key that none accepts, one refusal is enough for the next.
        let isLikely = scope.isOrigin && !isKeyProven && !pausedScopes.isEmpty
        evidence.refused(address, speaksForAll: isOfEnvironment || isLikely, at: now)
        scopes[scope] = evidence
        let change = !wasPaused && evidence.pausedSince != nil ? Change.paused(scope) : nil
        guard evidence.pausedSince == nil || scope.isOrigin && isKeyProven && evidence.accepted == nil else {
            return (wait(of: scope), change)
        }
        return (Wait(spendsAttempt: isProven(scope), seconds: seconds), change)
    }

    // MARK: State

    /// The scopes that are paused.
    public var pausedScopes: [Scope] { isQuiet ? [] : scopes.filter { $0.value.pausedSince != nil }.map(\.key) }

    /// Whether the key itself, or one of its environments, is refused: not if only origins of strangers are.
    ///
    /// An origin that never accepted the key says nothing about it, unless others say the same and none accepts it.
    public var isKeyRefused: Bool {
        isKeyRefusedBeyondStrangers || pausedScopes.count > 1 && !isKeyProven
    }

    /// Whether a scope that everybody uses refuses the key: not if only origins do that never accepted it.
    var isKeyRefusedBeyondStrangers: Bool {
        pausedScopes.contains { !$0.isOrigin || scopes[$0]?.accepted != nil }
    }

    /// Whether anything shows that a refusal is not the key's fault: its scope, or for an origin another one, accepts.
    private func isProven(_ scope: Scope) -> Bool {
        scope.isOrigin ? isKeyProven : scopes[scope]?.isProven(at: latest) ?? false
    }

    /// Whether the key was accepted lately, in any scope.
    var isKeyProven: Bool { accepted.map { latest.milliseconds(since: $0) < Self.proofMilliseconds } ?? false }

    /// Forgets a scope if there is no place for a new one: one that never accepted, and was heard of least lately.
    private mutating func makeRoom(for scope: Scope) {
        guard scopes.count >= Self.scopesMaximum, scopes[scope] == nil else { return }
        let oldest = scopes.min { left, right in
            (left.value.accepted == nil ? 0 : 1, left.value.heard.nanoseconds, left.key.origin)
                < (right.value.accepted == nil ? 0 : 1, right.value.heard.nanoseconds, right.key.origin)
        }
        if let oldest { scopes[oldest.key] = nil }
    }

    /// Looks now and then whether all is quiet again.
    private mutating func look(_ now: MonotonicTime) {
        guard !isQuiet, now >= nextLook else { return }
        nextLook = now.advanced(byMilliseconds: Self.lookMilliseconds)
        addresses.forget(at: now)
        isQuiet = addresses.isEmpty && scopes.values.allSatisfy(\.isWell)
    }
}
