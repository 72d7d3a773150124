internal import EncryptedContent
internal import EventLoop
import Notifications
internal import ServiceClient

/// The part of a `WebPushServiceClient` that lives on the loop: which push is where, and the routes of the origins.
final class WebPushCore {
    /// A push that has not ended.
    private struct Pending {
        let request: PushRequest
        let origin: Int
        /// The client that has it, and will end it.
        var client: Client?
    }

    /// The clients that send what is encrypted.
    enum Client { case http1, http2 }

    /// How often origins are looked at that may have become idle, in nanoseconds.
    private static let sweepNanoseconds: UInt64 = 1_000_000_000
    /// How long a subscription is new: Google's service has called some gone for seconds after they were made.
    private static let freshMilliseconds: Int64 = 60_000

    private let configuration: WebPushServiceConfiguration
    private let client: ServiceClient
    private let http1: HTTP1Client
    private let loop: EventLoop
    private var handler: (any PushTransportHandler)?
    private var encryption: EncryptionPool?
    private var here: LoopBound<WebPushCore>?
    private var origins: OriginTable
    private var recentOrigins = RecentOrigins()
    private let routes: OriginRoutes
    private var log: OriginLog
    private var pending: [Pending?] = []
    private var freePending: [Int] = []
    private var reported: [Bool?]
    private var ended: [AttemptResult] = []
    private var sweep: EventLoop.Timer?
    private var isClosing = false

    init(configuration: WebPushServiceConfiguration, client: ServiceClient, http1: HTTP1Client, log: OriginLog) {
        self.log = log
        self.configuration = configuration
        self.client = client
        self.http1 = http1
        routes = OriginRoutes(configuration: configuration, http2: client, http1: http1)
        loop = client.loop
        origins = OriginTable(originsMaximum: configuration.originsMaximum)
        reported = Array(repeating: nil, count: configuration.apps.count)
    }

    func start(handler: any PushTransportHandler, encryption: EncryptionPool, here: LoopBound<WebPushCore>) {
        (self.handler, self.encryption, self.here) = (handler, encryption, here)
    }

    // MARK: Sending

    func send(_ requests: [PushRequest]) {
        let now = loop.nowNanoseconds
        var jobs: [EncryptionJob] = []
        jobs.reserveCapacity(requests.count)
        for request in requests {
            switch admit(request, now) {
            case .success(let job): jobs.append(job)
            case .failure(let refusal): finish(request.identifier, refusal.outcome)
            }
        }
        encrypt(jobs)
        report()
    }

    private func encrypt(_ jobs: [EncryptionJob]) {
        let taken = isClosing ? 0 : encryption?.submit(jobs) ?? 0
        for job in jobs[taken...] { drop(job.push, "too many pushes wait for encryption") }
    }

    private struct Refusal: Error { let outcome: AttemptOutcome }

    /// Finds the origin of a push, and takes the push in.
    private func admit(_ request: PushRequest, _ now: UInt64) -> Result<EncryptionJob, Refusal> {
        guard configuration.apps.indices.contains(request.route) else {
            return .failure(Refusal(outcome: .notProcessed("there is no such route")))
        }
        guard let keys = request.token.details?.webPushKeys else {
            return .failure(Refusal(outcome: SubscriptionProblem.keysMissing.outcome))
        }
        if let end = request.token.details?.expiresAtMilliseconds, end <= WallClock.nowMilliseconds() {
            return .failure(Refusal(outcome: SubscriptionProblem.ended.outcome))
        }
        guard let origin = origin(of: request.token) else {
            return .failure(Refusal(outcome: SubscriptionProblem.endpointInvalid.outcome))
        }
        guard origin.isAllowed else { return .failure(Refusal(outcome: SubscriptionProblem.endpointRefused.outcome)) }
        let place: Int
        switch self.place(of: origin, app: request.route, now) {
        case .success(let found): place = found
        case .failure(let refusal): return .failure(refusal)
        }
        if let ending = origins.begin(place, nowNanoseconds: now) { return .failure(Refusal(outcome: ending)) }
        let push = freePending.popLast() ?? pending.count
        if push == pending.count { pending.append(nil) }
        pending[push] = Pending(request: request, origin: place)
        return .success(EncryptionJob(push: push, content: request.content, keys: keys))
    }

    private func origin(of token: borrowing DeviceToken) -> RecentOrigins.Entry? {
        if let entry = recentOrigins.entry(of: token) { return entry }
        guard let origin = WebPushOrigin(token) else { return nil }
        let standing = configuration.hosts.standing(ofHost: origin.host, port: origin.port)
        let isAllowed = configuration.hosts.problem(ofHost: origin.host, port: origin.port) == nil
        return recentOrigins.add(origin, of: token, standing, isAllowed: isAllowed)
    }

    private func place(of entry: RecentOrigins.Entry, app: Int, _ now: UInt64) -> Result<Int, Refusal> {
        let key = OriginTable.Key(app: app, audience: entry.origin.audience)
        switch origins.place(of: key, entry.standing, nowNanoseconds: now) {
        case .found(let place): return .success(place)
        case .full(let bound):
            log.refused(app: app, bound, host: entry.origin.host, nowNanoseconds: now)
            return .failure(Refusal(outcome: .crowdedOut("too many unknown push services are in use")))
        case .opened(let place, let dropped):
            if let dropped { routes.close(dropped) }
            defer { log.changed(origins) }
            let isProven = origins.origins[place]?.isProven ?? false
            let terms = OriginTerms(
                isKnown: entry.standing != .stranger, hasFullTime: isProven || entry.standing == .named)
            do throws(ServiceError) {
                try routes.open(entry.origin, app: app, terms, place: place) { [here] in
                    here?.value.http2IsMissing(place)
                }
                armSweep()
                return .success(place)
            } catch {
                origins.drop(place)
                return .failure(Refusal(outcome: .notProcessed(error.message)))
            }
        }
    }

    /// Messages have been encrypted.
    func encrypted(_ results: [EncryptionResult]) {
        let now = loop.nowNanoseconds
        var requests: [PushRequest] = []
        var http1Requests: [PushRequest] = []
        requests.reserveCapacity(results.count)
        for result in results {
            guard let push = pending[result.push] else { continue }
            switch result.body {
            case .success(let body):
                let isHTTP1 = origins.usesHTTP1(push.origin, nowNanoseconds: now)
                let route = isHTTP1 ? routes.http1Route(to: push.origin) : routes.http2Route(to: push.origin)
                guard !isClosing, let route else {
                    drop(result.push, "the transport is closing")
                    continue
                }
                var request = push.request
                request.identifier = UInt64(result.push)
                request.route = route
                request.content = request.content.replacingPayload(by: body)
                pending[result.push]?.client = isHTTP1 ? .http1 : .http2
                if isHTTP1 { http1Requests.append(request) } else { requests.append(request) }
            case .failure(let error):
                let isPermanent = error.code == .recipientInvalid || error.code == .plaintextTooLong
                end(
                    result.push,
                    isPermanent ? SubscriptionProblem.keysInvalid.outcome : .notProcessed(error.message), 0)
            }
        }
        if !requests.isEmpty { client.send(requests) }
        if !http1Requests.isEmpty { http1.send(http1Requests) }
        report()
    }

    // MARK: Results

    /// A client's attempts ended.
    func ended(_ results: [AttemptResult]) {
        let now = loop.nowNanoseconds
        var again: [EncryptionJob] = []
        for result in results {
            let push = Int(clamping: result.identifier)
            guard pending.indices.contains(push), let entry = pending[push] else { continue }
            if case .notProcessed = result.outcome, entry.client == .http2,
                origins.usesHTTP1(entry.origin, nowNanoseconds: now),
                let keys = entry.request.token.details?.webPushKeys
            {
                // It waited for a connection that showed that the service does not speak HTTP/2.
                pending[push]?.client = nil
                again.append(EncryptionJob(push: push, content: entry.request.content, keys: keys))
            } else {
                end(push, judged(result.outcome, entry), result.durationNanoseconds)
            }
        }
        if !again.isEmpty { encrypt(again) }
        report()
    }

    /// Notes what an answer says of the origin, and of a subscription that is new.
    private func judged(_ outcome: AttemptOutcome, _ push: Pending) -> AttemptOutcome {
        if case .notProcessed(let reason) = outcome, !isClosing { return origins.ending(push.origin, reason) }
        guard case .answered(var answer) = outcome else { return outcome }
        if (200...204).contains(answer.status) {
            if origins.accepted(push.origin) {
                routes.prove(push.origin)
                log.changed(origins)
            }
            return outcome
        }
        if answer.status == 404 || answer.status == 410, Self.isFresh(push.request.token) {
            answer.reason = WebPushReason.goneSoon
            return .answered(answer)
        }
        return outcome
    }

    /// Whether a subscription is so new that its service may not know it everywhere yet.
    private static func isFresh(_ token: DeviceToken) -> Bool {
        guard let registered = token.details?.registeredAtMilliseconds else { return false }
        let now = WallClock.nowMilliseconds()
        // A time far in the future is a wrong one.
        return (now - freshMilliseconds...now + freshMilliseconds).contains(registered)
    }

    private func drop(_ push: Int, _ reason: String) { end(push, .notProcessed(reason), 0) }

    private func end(_ push: Int, _ outcome: AttemptOutcome, _ durationNanoseconds: UInt64) {
        guard let entry = pending[push] else { return }
        pending[push] = nil
        freePending.append(push)
        var isAnswered = false
        if case .answered = outcome { isAnswered = true }
        origins.end(entry.origin, isAnswered: isAnswered, nowNanoseconds: loop.nowNanoseconds)
        finish(entry.request.identifier, outcome, durationNanoseconds)
    }

    private func finish(_ identifier: UInt64, _ outcome: AttemptOutcome, _ durationNanoseconds: UInt64 = 0) {
        ended.append(AttemptResult(identifier: identifier, outcome: outcome, durationNanoseconds: durationNanoseconds))
    }

    private func report() {
        guard !ended.isEmpty else { return }
        let batch = ended
        ended = []
        ended.reserveCapacity(batch.count)
        handler?.pushesEnded(batch)
    }

    // MARK: Origins

    /// A client has found out whether routes lead to their origins.
    func routesChanged(_ changes: [RouteChange], of client: Client) {
        for change in changes {
            guard let place = routes.place(ofRoute: change.route, isHTTP1: client == .http1) else { continue }
            origins.reachabilityChanged(
                place, isReachable: change.isReachable, isHTTP1: client == .http1, nowNanoseconds: loop.nowNanoseconds)
        }
        reportReachability()
    }

    private func http2IsMissing(_ place: Int) { origins.http2IsMissing(place, nowNanoseconds: loop.nowNanoseconds) }

    /// Says whether the apps' routes lead somewhere, when that changes.
    ///
    /// A route whose state is not known any more counts as reachable, so that the next push finds out.
    private func reportReachability() {
        var changes: [RouteChange] = []
        for app in configuration.apps.indices {
            let isReachable = origins.isReachable(app: app) ?? (reported[app] == nil ? nil : true)
            guard let isReachable, isReachable != reported[app] else { continue }
            reported[app] = isReachable
            changes.append(RouteChange(route: app, isReachable: isReachable))
        }
        if !changes.isEmpty { handler?.routesChanged(changes) }
    }

    private func armSweep() {
        guard sweep == nil, !isClosing else { return }
        sweep = loop.schedule(afterNanoseconds: Self.sweepNanoseconds) { [weak self] in self?.sweepOrigins() }
    }

    private func sweepOrigins() {
        sweep = nil
        let idle = origins.timePassed(nowNanoseconds: loop.nowNanoseconds)
        for place in idle { routes.close(place) }
        if !idle.isEmpty { log.changed(origins) }
        reportReachability()
        if !routes.isEmpty { armSweep() }
    }

    // MARK: Closing

    /// The encryption has ended, and delivers nothing any more: the pushes that still wait for it end.
    func close() {
        isClosing = true
        encryption = nil
        if let sweep { loop.cancel(sweep) }
        sweep = nil
        for push in pending.indices where pending[push].map({ $0.client == nil }) == true {
            drop(push, "the transport is closing")
        }
        report()
    }
}
