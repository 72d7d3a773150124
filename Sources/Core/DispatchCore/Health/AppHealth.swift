public import Essentials
public import Notifications

/// Watches how the push service serves each app, and decides which pushes must not be sent for now.
///
/// | it notices that | by | consequence |
/// |---|---|---|
/// | an app is paused | what an operator says (`setPaused`) | its pushes are requeued |
/// | a route leads nowhere | what the transport says (`ReachableRoutes`) | its pushes are requeued |
/// | credentials are refused | answers (`CredentialMonitor`) | the scope's pushes are requeued, but for probes |
/// | most tokens are called bad | answers (`TokenRejectionMonitor`) | none is removed, and their pushes are requeued |
/// | an app is slow | when deliveries end (`AppBacklog`) | its excess is deferred, and its hanging pushes abandoned |
/// | a fan-out hangs | no answer for the patience | chunks of it that have not begun are requeued |
/// | a service is silent, retries most pushes, or finds many tokens dead | answers (`ServiceHealth`) | it is told |
///
/// An app that uses several push services counts as several apps here: an `app` is the index of an `AppRoute`.
///
/// `DispatchStateMachine` asks for a verdict before a push goes out, and reports its outcome. The news for an operator
/// are gathered in `notices`.
public struct AppHealth: Sendable {
    /// A change of an app's or a route's health, for the operator.
    public enum Notice: Hashable, Sendable {
        /// The push service does not accept the credentials of this app on a route, with its reason.
        ///
        /// `origin` is that of the browsers' service which refused; empty for the other services.
        case keyRejected(app: Int, route: Int, origin: String, reason: String)
        /// The push service accepts the credentials of this app on a route again.
        case keyAccepted(app: Int, route: Int, origin: String)
        /// Most tokens of this app and kind are called bad, with the last reason: environment or topic are in doubt.
        case suspectConfiguration(app: Int, kind: TokenKind, reason: String)
        /// This route leads nowhere.
        case unreachable(route: Int)
        /// This route leads to the push service again.
        case reachable(route: Int)
        /// The pushes of this app hardly end, and it has more than its share of deliveries.
        case slow(app: Int)
        /// The push service serves this app badly from now on.
        case failing(app: Int, ServiceTrouble)
        /// The push service does not serve this app badly in this way any more.
        case recovered(app: Int, ServiceTrouble)
    }

    /// Kinds of trouble of one app; they may come together.
    public struct Troubles: OptionSet, Sendable {
        /// The push service does not accept its key, at all or in one environment.
        public static let keyRefused = Self(rawValue: 1)
        /// Most of its tokens of some kind are called bad.
        public static let tokensInDoubt = Self(rawValue: 2)
        /// It has more than its share of deliveries, and its pushes hardly end.
        public static let slow = Self(rawValue: 4)
        /// An operator has paused it.
        public static let paused = Self(rawValue: 8)
        /// The push service answers none of its pushes.
        public static let silent = Self(rawValue: 16)
        /// Most of its pushes have to be retried.
        public static let retried = Self(rawValue: 32)
        /// Unusually many of its tokens are dead.
        public static let deadTokens = Self(rawValue: 64)

        /// A bit for each kind.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    private struct App: Sendable {
        var credentials: CredentialMonitor
        var tokenMonitors = TokenRejectionMonitors()
        var backlog = AppBacklog()
        /// When a push of it was answered last.
        var answered = MonotonicTime(nanoseconds: 0)
        /// Whether an operator has paused it.
        var isPaused = false
        /// Whether a notice has reported it as slow.
        var isReportedSlow = false
    }

    /// How long an app may take to answer before it is taken to be in trouble.
    public static let patienceMilliseconds: Int64 = 5_000
    /// The part of the unsettled deliveries that an app may have in any case.
    private static let leastShareDivisor = 16
    /// The time between two searches of all pushes for overdue ones, in milliseconds.
    private static let overdueCheckIntervalMilliseconds: Int64 = 500

    /// Why a push has to be requeued.
    public struct Deferral: Hashable, Sendable {
        /// The cause.
        public let cause: Disposition.RetryCause
        /// How long it waits at least, in seconds; nil if the cause says that.
        let afterSeconds: Int?

        init(_ cause: Disposition.RetryCause) {
            self.cause = cause
            afterSeconds = nil
        }

        init(_ wait: CredentialMonitor.Wait) {
            cause = wait.spendsAttempt ? .addressRefused : .keyRejected
            afterSeconds = wait.seconds
        }
    }

    private let seed: UInt64
    private let unsettledDeliveriesMaximum: Int
    private let devicesWaitingMaximum: Int
    private var apps: [App]
    private var routes = ReachableRoutes()
    /// How the push services serve the apps.
    public internal(set) var services: ServiceHealth
    /// How many deliveries of all apps have ended.
    private var deliveriesEnded = 0
    /// When all pushes were last searched for overdue ones.
    private var lastOverdueCheck: MonotonicTime?

    /// The number of unsettled deliveries of all apps.
    public private(set) var unsettledDeliveries = 0
    /// The changes since the notices were taken last.
    public private(set) var notices: [Notice] = []

    /// Creates the health of unknown apps.
    ///
    /// - Parameters:
    ///   - appCount: how many apps are configured.
    ///   - limits: the bounds, from which an app's share follows.
    ///   - seed: keeps others from choosing tokens with equal digests.
    public init(appCount: Int, limits: DispatchLimits, seed: UInt64 = 0) {
        self.seed = seed
        apps = Array(repeating: App(credentials: CredentialMonitor(seed: seed)), count: appCount)
        services = ServiceHealth(appCount: appCount, patienceMilliseconds: limits.answerPatienceMilliseconds)
        unsettledDeliveriesMaximum = limits.unsettledDeliveriesMaximum
        devicesWaitingMaximum = limits.devicesWaitingMaximum
    }

    /// Returns the notices since the last call.
    public mutating func takeNotices() -> [Notice] {
        defer { notices.removeAll() }
        return notices
    }

    // MARK: Before a push goes out

    /// Whether `deferral` may have a reason to requeue a push; nearly always it has none, and the address is not read.
    func mayDefer(app: Int, route: Int, asksService: Bool) -> Bool {
        apps[app].isPaused || routes.isUnreachable(route) || asksService && !apps[app].credentials.isQuiet
    }

    /// Decides whether a push has to be requeued.
    ///
    /// A push that may go out although its credentials are refused is a probe.
    ///
    /// - Parameters:
    ///   - token: its address.
    ///   - app: its app.
    ///   - route: the route that it would take.
    ///   - asksService: whether the push service would answer it, and not the registry.
    ///   - now: when it is.
    /// - Returns: why it waits; nil if it may go out.
    public mutating func deferral(
        of token: borrowing DeviceToken, app: Int, route: Int, asksService: Bool, at now: MonotonicTime
    ) -> Deferral? {
        if apps[app].isPaused { return Deferral(.paused) }
        if routes.isUnreachable(route) { return Deferral(.unreachable) }
        guard asksService else { return nil }
        return apps[app].credentials.wait(for: token, route: route, at: now).map { Deferral($0) }
    }

    /// The wait of a push that has come back unprocessed, if its credentials are refused by now; nil if they are not.
    func credentialDeferral(of token: borrowing DeviceToken, app: Int, route: Int) -> Deferral? {
        apps[app].credentials.pause(of: token, route: route).map { Deferral($0) }
    }

    /// Whether a push that has come back may be sent again at once.
    public func maySendAgain(_ token: borrowing DeviceToken, app: Int, route: Int, asksService: Bool) -> Bool {
        !apps[app].isPaused && !routes.isUnreachable(route)
            && !(asksService && apps[app].credentials.pause(of: token, route: route) != nil)
    }

    /// Whether a push on this route would wait for nothing.
    public func isUnreachable(route: Int) -> Bool { routes.isUnreachable(route) }

    /// Whether an operator has paused an app.
    public func isPaused(app: Int) -> Bool { apps[app].isPaused }

    /// Whether the push service does not accept the key of an app, at all or in one environment, as far as is known.
    public func isKeyRefused(app: Int) -> Bool { apps[app].credentials.isKeyRefused }

    /// The routes and origins of an app whose credentials are refused at this moment.
    public func refusedScopes(app: Int) -> [CredentialMonitor.Scope] { apps[app].credentials.pausedScopes }

    // MARK: Pauses by an operator

    /// These apps are paused from now on, and no others.
    mutating func setPaused(_ paused: Set<Int>) {
        for app in apps.indices { apps[app].isPaused = paused.contains(app) }
    }

    // MARK: Routes and answers

    /// The transport said whether a route leads to the push service.
    public mutating func routeChanged(_ route: Int, isReachable: Bool) {
        let wasUnreachable = routes.isUnreachable(route)
        routes.changed(route: route, isReachable: isReachable)
        guard wasUnreachable == isReachable else { return }
        notices.append(isReachable ? .reachable(route: route) : .unreachable(route: route))
    }

    /// A push of an app was answered, with any status.
    public mutating func pushWasAnswered(app: Int, at now: MonotonicTime) {
        apps[app].answered = now
        if isShared { apps[app].backlog.wasAnswered(othersEnded: othersEnded(app), at: now) }
    }

    /// Whether `keyWasAccepted` would learn nothing, because it heard the same a moment ago.
    func isKeyAcceptanceKnown(app: Int, route: Int, at now: MonotonicTime) -> Bool {
        apps[app].credentials.isAcceptanceKnown(route: route, at: now)
    }

    /// The push service answered a push with something that it says only to good credentials.
    public mutating func keyWasAccepted(
        _ token: borrowing DeviceToken, app: Int, route: Int, at now: MonotonicTime
    ) {
        guard let change = apps[app].credentials.accepted(token, route: route, at: now) else { return }
        notice(change, app: app, origin: token.originText, reason: "")
    }

    /// The push service refused the credentials of a push.
    ///
    /// - Returns: how the push is requeued.
    public mutating func keyWasRejected(
        _ token: borrowing DeviceToken, app: Int, route: Int, reason: String, at now: MonotonicTime
    ) -> Deferral {
        let (wait, change) = apps[app].credentials.refused(
            token, route: route, isOfEnvironment: Disposition.isOfEnvironment(reason), at: now)
        if let change { notice(change, app: app, origin: token.originText, reason: reason) }
        return Deferral(wait)
    }

    private mutating func notice(_ change: CredentialMonitor.Change, app: Int, origin: String, reason: String) {
        switch change {
        case .paused(let scope):
            notices.append(.keyRejected(app: app, route: scope.route, origin: origin, reason: reason))
        case .resumed(let scope): notices.append(.keyAccepted(app: app, route: scope.route, origin: origin))
        }
    }

    /// The push service answered something that did not call a token of an app bad.
    ///
    /// - Parameters:
    ///   - token: the token, which is read only if it matters.
    ///   - app: its app.
    ///   - route: the route of the push.
    ///   - kind: the kind of the token.
    ///   - hasOrigin: whether the token has an origin, which speaks for itself: that of a browser.
    ///   - isAccepted: whether the push was accepted.
    ///   - sent: when the push went out.
    public mutating func tokenWasGood(
        _ token: @autoclosure () -> DeviceToken, app: Int, route: Int, kind: TokenKind, hasOrigin: Bool,
        isAccepted: Bool, sent: MonotonicTime
    ) {
        let scope = hasOrigin ? tokenScope(token(), route, kind) : .init(route: route, kind: kind)
        apps[app].tokenMonitors.modify(scope) { [seed] in
            $0.tokenWasGood(digest: token().digest(seed: seed), isAccepted: isAccepted, sent: sent)
        }
    }

    /// The push service called a token of an app bad, with a reason.
    ///
    /// - Returns: the decision about its push.
    public mutating func tokenWasBad(
        _ token: borrowing DeviceToken, app: Int, route: Int, kind: TokenKind, reason: String, sent: MonotonicTime,
        at now: MonotonicTime
    ) -> TokenRejectionMonitor.Verdict {
        let digest = token.digest(seed: seed)
        let (wasInDoubt, verdict, isInDoubt) = apps[app].tokenMonitors.modify(tokenScope(token, route, kind)) {
            ($0.isInDoubt, $0.tokenWasBad(digest: digest, sent: sent, at: now), $0.isInDoubt)
        }
        if isInDoubt, !wasInDoubt { notices.append(.suspectConfiguration(app: app, kind: kind, reason: reason)) }
        return verdict
    }

    private func tokenScope(
        _ token: borrowing DeviceToken, _ route: Int, _ kind: TokenKind
    ) -> TokenRejectionMonitors.Scope {
        TokenRejectionMonitors.Scope(
            route: route, kind: kind, origin: token.details == nil ? 0 : token.originDigest(seed: seed))
    }

    /// Looks how the push services serve the apps, at most once a second.
    ///
    /// - Parameters:
    ///   - counts: the counts of ended pushes, by app.
    ///   - now: when it is.
    mutating func lookAtServices(_ counts: [PushCounts], at now: MonotonicTime) {
        services.look(counts, at: now) { app, trouble, isIn in
            notices.append(isIn ? .failing(app: app, trouble) : .recovered(app: app, trouble))
        }
    }

    // MARK: State

    /// Whether no push for any app could reach the push service, as far as is known.
    public var isEverythingUnreachable: Bool { routes.isEverythingUnreachable }

    /// Whether every app is paused.
    var isEverythingPaused: Bool { apps.allSatisfy(\.isPaused) }

    /// The apps whose key the push service does not accept at this moment, at all or in one environment.
    public var suspendedApps: [Int] { apps.indices.filter { isKeyRefused(app: $0) } }

    /// Whether keys are refused, and none was accepted lately.
    public var isEveryKeyRefused: Bool {
        apps.contains(where: \.credentials.isKeyRefusedBeyondStrangers)
            && !apps.contains(where: \.credentials.isKeyProven)
    }

    /// The apps most of whose tokens of some kind are called bad at this moment.
    public var doubtedApps: [Int] { apps.indices.filter { apps[$0].tokenMonitors.isAnyInDoubt } }

    /// The apps that have more than their share of deliveries and whose pushes hardly end, at this moment.
    public var slowApps: [Int] { apps.indices.filter { isSlow(app: $0) } }

    /// The kinds of trouble that an app is in at this moment, besides routes that lead nowhere.
    public func troubles(of app: Int) -> Troubles {
        var troubles = services.troubles(of: app)
        if isKeyRefused(app: app) { troubles.insert(.keyRefused) }
        if apps[app].tokenMonitors.isAnyInDoubt { troubles.insert(.tokensInDoubt) }
        if isSlow(app: app) { troubles.insert(.slow) }
        if apps[app].isPaused { troubles.insert(.paused) }
        return troubles
    }

    /// Whether an app has more than its share of deliveries and its pushes hardly end.
    func isSlow(app: Int) -> Bool { apps[app].backlog.isSlow }

    /// Whether pushes of a large fan-out hang: none of its apps has answered anything for the patience.
    ///
    /// With one app nothing hangs, because no other app needs the room.
    ///
    /// - Parameters:
    ///   - appIndices: the apps that it pushes to.
    ///   - outSince: since when some page of it has been out at any time.
    ///   - now: when it is.
    /// - Returns: whether it hangs at this moment.
    public func isHanging(apps appIndices: [Int], outSince: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard isShared, let answered = appIndices.map({ apps[$0].answered }).max() else { return false }
        return now.milliseconds(since: max(outSince, answered)) > Self.patienceMilliseconds
    }
}

/// Apps that are too slow for their unsettled deliveries.
///
/// With one app nothing is counted: a slow verdict would help no other app.
extension AppHealth {
    /// Whether there is more than one app to be fair to.
    var isShared: Bool { apps.count > 1 }

    /// The number of unsettled deliveries that an app may have in any case.
    private var leastShare: Int { unsettledDeliveriesMaximum / Self.leastShareDivisor }

    /// How many deliveries of all other apps have ended so far.
    private func othersEnded(_ app: Int) -> Int { deliveriesEnded - apps[app].backlog.ended }

    /// The number of unsettled deliveries of each app.
    public var unsettledDeliveriesByApp: [Int] { apps.map(\.backlog.unsettled) }

    /// Whether an app is slow and exceeds its share, so that no more of its deliveries are admitted.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - devicesWaiting: how many of its devices wait to be sent to.
    ///   - now: when it is.
    /// - Returns: whether its further deliveries are to be requeued.
    public mutating func shouldDefer(app: Int, devicesWaiting: Int, at now: MonotonicTime) -> Bool {
        guard isShared else { return false }
        let free = unsettledDeliveriesMaximum - unsettledDeliveries
        let isOverShare =
            apps[app].backlog.unsettled > max(leastShare, free) || devicesWaiting > devicesWaitingMaximum / 2
        return apps[app].backlog.shouldDefer(
            isOverShare: isOverShare, unsettledMaximum: unsettledDeliveriesMaximum, othersEnded: othersEnded(app),
            at: now)
    }

    /// Adds deliveries of an app, except those that are requeued at once.
    public mutating func deliveriesArrived(_ count: Int, app: Int, at now: MonotonicTime) {
        apps[app].backlog.arrived(count, othersEnded: othersEnded(app), at: now)
        unsettledDeliveries += count
    }

    /// Deliveries of an app have been settled.
    public mutating func deliveriesSettled(_ count: Int, app: Int, at now: MonotonicTime) {
        apps[app].backlog.settled(count, othersEnded: othersEnded(app), at: now)
        unsettledDeliveries -= count
        deliveriesEnded += count
    }

    /// Removes abandoned deliveries of an app; they say nothing for it.
    public mutating func deliveriesAbandoned(_ count: Int, app: Int) {
        apps[app].backlog.abandoned(count)
        unsettledDeliveries -= count
    }

    /// Looks which apps are slow.
    ///
    /// - Parameters:
    ///   - devicesWaiting: how many devices of each app wait to be sent to.
    ///   - now: when it is.
    public mutating func look(devicesWaiting: [Int], at now: MonotonicTime) {
        guard isShared else { return }
        for app in apps.indices {
            if isWatched(app) || devicesWaiting[app] > 0 {
                _ = shouldDefer(app: app, devicesWaiting: devicesWaiting[app], at: now)
            }
            let isSlow = isSlow(app: app)
            if isSlow, !apps[app].isReportedSlow { notices.append(.slow(app: app)) }
            apps[app].isReportedSlow = isSlow
        }
    }

    /// Whether apps have to be looked at again after a while, even if nothing happens.
    ///
    /// A slow app may have all unsettled deliveries, and then nothing arrives or ends.
    public var isWatching: Bool { isShared && apps.indices.contains { isWatched($0) } }

    private func isWatched(_ app: Int) -> Bool { isSlow(app: app) || apps[app].backlog.unsettled > leastShare }

    /// Whether to look now for pushes that have been out for too long.
    ///
    /// Looking through all pushes is nothing for every tick. Nor is it done at the first look after a while: if it was
    /// the worker that stood still, the answers are there, and have only not been read yet.
    public mutating func looksForOverduePushes(at now: MonotonicTime) -> Bool {
        guard isShared, apps.contains(where: \.backlog.isSlow) else { return false }
        let sinceLast = lastOverdueCheck.map { now.milliseconds(since: $0) } ?? .max
        guard sinceLast >= Self.overdueCheckIntervalMilliseconds else { return false }
        lastOverdueCheck = now
        return sinceLast < Self.patienceMilliseconds
    }

    /// Whether a push has been out for too long: it is of a slow app, and was not answered for the patience.
    public func isOverdue(app: Int, sent: MonotonicTime, at now: MonotonicTime) -> Bool {
        isSlow(app: app) && now.milliseconds(since: sent) >= Self.patienceMilliseconds
    }
}

/// Which routes of the transport lead to the push service at this moment.
///
/// A route without any news counts as neither: it may never be used.
struct ReachableRoutes: Hashable, Sendable {
    private enum State {
        case unknown
        case reachable
        case unreachable
    }

    private var states: [State] = []
    private var reachableCount = 0
    /// How many lead nowhere.
    private(set) var unreachableCount = 0

    /// The transport said how a route is.
    mutating func changed(route: Int, isReachable: Bool) {
        precondition(route >= 0, "a route is an index in a list")
        while states.count <= route { states.append(.unknown) }
        switch states[route] {
        case .unknown: break
        case .reachable: reachableCount -= 1
        case .unreachable: unreachableCount -= 1
        }
        states[route] = isReachable ? .reachable : .unreachable
        if isReachable { reachableCount += 1 } else { unreachableCount += 1 }
    }

    /// Whether a push on this route would wait for nothing.
    func isUnreachable(_ route: Int) -> Bool {
        unreachableCount > 0 && states.indices.contains(route) && states[route] == .unreachable
    }

    /// Whether no route leads anywhere, as far as is known, so that nothing can be sent for any app.
    var isEverythingUnreachable: Bool { unreachableCount > 0 && reachableCount == 0 }
}
