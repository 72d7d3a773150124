public import Essentials
public import Notifications

/// A way in which a push service serves an app badly, apart from its key, the kind of its tokens and its connections.
public enum ServiceTrouble: String, CaseIterable, Sendable {
    /// It has answered nothing for as long as one push may take, while pushes are out.
    case silent
    /// Most pushes have to be retried: the service is throttling, or has an error of its own.
    case retried
    /// Unusually many tokens are dead.
    case deadTokens = "dead_tokens"

    /// The trouble among those of an app.
    public var asTroubles: AppHealth.Troubles {
        switch self {
        case .silent: .silent
        case .retried: .retried
        case .deadTokens: .deadTokens
        }
    }
}

/// Watches how the push service answers the pushes of each app: whether at all, and whether with what.
///
/// `DispatchStateMachine` reports each push, and looks once a second. Changes come as notices, in words of
/// `ServiceTrouble`. A silent service explains why pushes are retried, so that is not reported as well.
public struct ServiceHealth: Sendable {
    private struct App: Sendable {
        var answers = AnswerMonitor()
        var endings = RecentEndings()
        var retried = 0
        /// Why the last push failed; nil if none did.
        var lastCause: Disposition.RetryCause?
        var troubles: AppHealth.Troubles = []

        /// The troubles that the monitors see at this moment.
        var found: AppHealth.Troubles {
            var found: AppHealth.Troubles = answers.isSilent ? .silent : endings.areRetried ? .retried : []
            if endings.areTokensDead { found.insert(.deadTokens) }
            return found
        }
    }

    /// The time between two looks, in milliseconds.
    static let lookMilliseconds: UInt64 = 1_000

    private let patienceMilliseconds: Int64
    private var apps: [App]
    private var lastLook: MonotonicTime?

    /// Whether a look may find something else after a while, even if nothing happens.
    public private(set) var isWatching = false

    /// Creates the health of services that nothing is known of.
    ///
    /// - Parameters:
    ///   - appCount: how many apps there are.
    ///   - patienceMilliseconds: how long one push may take to be answered.
    public init(appCount: Int, patienceMilliseconds: Int64) {
        apps = Array(repeating: App(), count: appCount)
        self.patienceMilliseconds = patienceMilliseconds
    }

    // MARK: Events

    /// A push of an app went out to its service.
    public mutating func pushWentOut(app: Int, at now: MonotonicTime) {
        apps[app].answers.pushWentOut(at: now)
        isWatching = true
    }

    /// The service answered a push of an app, with any status.
    public mutating func pushWasAnswered(app: Int, at now: MonotonicTime) {
        apps[app].answers.pushWasAnswered(at: now)
    }

    /// A push of an app is out no more.
    public mutating func pushEnded(app: Int, at now: MonotonicTime) { apps[app].answers.pushEnded(at: now) }

    /// A push of an app failed at the service, and may be retried.
    public mutating func pushFailed(app: Int, _ cause: Disposition.RetryCause) {
        apps[app].retried += 1
        apps[app].lastCause = cause
    }

    // MARK: Looks

    /// Looks how the services serve the apps, at most once a second.
    ///
    /// - Parameters:
    ///   - counts: the counts of ended pushes, by app.
    ///   - now: when it is.
    ///   - changed: called for each trouble that an app is in from now on, or is in no more.
    public mutating func look(
        _ counts: [PushCounts], at now: MonotonicTime, each changed: (_ app: Int, ServiceTrouble, _ isIn: Bool) -> Void
    ) {
        if let lastLook, now.milliseconds(since: lastLook) < Self.lookMilliseconds { return }
        lastLook = now
        isWatching = false
        for app in apps.indices {
            apps[app].answers.look(patienceMilliseconds: patienceMilliseconds, at: now)
            apps[app].endings.look(
                .init(
                    accepted: counts[app].accepted, deadTokens: counts[app].tokenDead, retried: apps[app].retried),
                at: now)
            let (old, new) = (apps[app].troubles, apps[app].found)
            apps[app].troubles = new
            for trouble in ServiceTrouble.allCases {
                let (wasIn, isIn) = (old.contains(trouble.asTroubles), new.contains(trouble.asTroubles))
                if wasIn != isIn { changed(app, trouble, isIn) }
            }
            if apps[app].answers.pushesOut > 0 || apps[app].answers.isSilent || apps[app].endings.hasPushes {
                isWatching = true
            }
        }
    }

    // MARK: State

    /// The troubles of an app at the last look: `silent`, `retried` and `deadTokens`.
    public func troubles(of app: Int) -> AppHealth.Troubles { apps[app].troubles }

    /// How long pushes of an app have been out without any answer, in milliseconds, and how many are out.
    public func unanswered(of app: Int) -> (milliseconds: Int64, pushesOut: Int) {
        (apps[app].answers.unansweredMilliseconds, apps[app].answers.pushesOut)
    }

    /// Why the last push of an app failed at its service; nil if none did.
    public func lastCause(of app: Int) -> Disposition.RetryCause? { apps[app].lastCause }

    /// How many pushes of each app are out.
    var pushesOutByApp: [Int] { apps.map(\.answers.pushesOut) }
}
