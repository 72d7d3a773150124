internal import EncryptedContent
internal import EventLoop
import Notifications
internal import ServiceClient

/// The part of a `WebPushClient` that lives on the loop: which push is where, and the routes of the origins.
final class WebPushCore {
    /// A push that has not ended.
    private struct Pending {
        let request: PushRequest
        let origin: Int
        /// Whether the client of push services has it, and will end it.
        var isHandedOver = false
    }

    /// How often origins are looked at that may have become idle, in nanoseconds.
    private static let sweepNanoseconds: UInt64 = 1_000_000_000

    private let configuration: WebPushConfiguration
    private let client: ServiceClient
    private let loop: EventLoop
    private var handler: (any PushTransportHandler)?
    private var encryption: EncryptionPool?
    private var here: LoopBound<WebPushCore>?
    private var origins: OriginTable
    /// The client's route of each origin, and the origin of each route.
    private var routes: [Int: Int] = [:]
    private var originOfRoute: [Int: Int] = [:]
    private var pending: [Pending?] = []
    private var freePending: [Int] = []
    private var reported: [Bool?]
    private var ended: [PushResult] = []
    private var sweep: EventLoop.Timer?
    private var isClosing = false

    init(configuration: WebPushConfiguration, client: ServiceClient) {
        self.configuration = configuration
        self.client = client
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
        let taken = isClosing ? 0 : encryption?.submit(jobs) ?? 0
        for job in jobs[taken...] { drop(job.push, "too many pushes wait for encryption") }
        report()
    }

    private struct Refusal: Error { let outcome: PushOutcome }

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
        guard let origin = WebPushOrigin(request.token) else {
            return .failure(Refusal(outcome: SubscriptionProblem.endpointInvalid.outcome))
        }
        guard isAllowed(origin) else { return .failure(Refusal(outcome: SubscriptionProblem.endpointRefused.outcome)) }
        guard let place = place(of: origin, app: request.route, now) else {
            return .failure(Refusal(outcome: .notProcessed("too many push services are in use")))
        }
        if let reason = origins.begin(place, nowNanoseconds: now) {
            return .failure(Refusal(outcome: .notProcessed(reason)))
        }
        let push = freePending.popLast() ?? pending.count
        if push == pending.count { pending.append(nil) }
        pending[push] = Pending(request: request, origin: place)
        return .success(EncryptionJob(push: push, content: request.content, keys: keys))
    }

    private func isAllowed(_ origin: WebPushOrigin) -> Bool {
        if configuration.trustedHosts.contains(origin.host) { return true }
        return origin.port == 443 && (configuration.isKnown(origin.host) || !configuration.refusesUnknownHosts)
    }

    private func place(of origin: WebPushOrigin, app: Int, _ now: UInt64) -> Int? {
        let isKnown = configuration.isKnown(origin.host)
        let key = OriginTable.Key(app: app, audience: origin.audience)
        switch origins.place(of: key, isKnown: isKnown, nowNanoseconds: now) {
        case .found(let place): return place
        case .full: return nil
        case .opened(let place, let dropped):
            if let dropped { removeRoute(of: dropped) }
            do throws(ServiceError) {
                let route = try client.addRoute(serviceRoute(to: origin, app: app, isKnown: isKnown, place: place))
                routes[place] = route
                originOfRoute[route] = place
                armSweep()
                return place
            } catch {
                origins.drop(place)
                return nil
            }
        }
    }

    private func serviceRoute(to origin: WebPushOrigin, app: Int, isKnown: Bool, place: Int) -> ServiceRoute {
        let app = configuration.apps[app]
        let host = origin.host
        var route = ServiceRoute(
            service: .webPush, app: app.name, name: origin.audience.origin,
            endpoint: ServiceEndpoint(host: host, port: origin.port),
            extraTrustAnchorsFile: configuration.extraTrustAnchorsFile,
            authorizer: VAPIDAuthorizer(source: app.tokens, audience: origin.audience),
            limits: isKnown ? configuration.knownLimits : configuration.unknownLimits, proxy: configuration.proxy
        ) { authority in
            WebPushAdapter(authority: authority, host: host) { WallClock.nowMilliseconds() / 1_000 }
        }
        if !configuration.trustedHosts.contains(host) {
            route.admitsAddress = { [policy = configuration.addressPolicy] in policy.allows($0) }
        }
        route.http2Missing = { [here] in here?.value.http2IsMissing(place) }
        return route
    }

    /// Messages have been encrypted.
    func encrypted(_ results: [EncryptionResult]) {
        var requests: [PushRequest] = []
        requests.reserveCapacity(results.count)
        for result in results {
            guard let push = pending[result.push], let route = routes[push.origin] else { continue }
            switch result.body {
            case .success(let body):
                guard !isClosing else {
                    drop(result.push, "the transport is closing")
                    continue
                }
                guard origins.origins[push.origin]?.lacksHTTP2 != true else {
                    sendWithoutHTTP2(result.push)
                    continue
                }
                var request = push.request
                request.identifier = UInt64(result.push)
                request.route = route
                request.content = request.content.replacingPayload(by: body)
                requests.append(request)
                pending[result.push]?.isHandedOver = true
            case .failure(let error):
                let isPermanent = error.code == .recipientInvalid || error.code == .plaintextTooLong
                end(
                    result.push,
                    isPermanent ? SubscriptionProblem.keysInvalid.outcome : .notProcessed(error.message), 0)
            }
        }
        if !requests.isEmpty { client.send(requests) }
        report()
    }

    /// The place for HTTP/1.1: a push whose origin did not negotiate HTTP/2, and whose body is ready.
    private func sendWithoutHTTP2(_ push: Int) { drop(push, "its push service does not speak HTTP/2") }

    // MARK: Results

    /// The client's attempts ended.
    func ended(_ results: [PushResult]) {
        for result in results {
            let push = Int(clamping: result.identifier)
            guard pending.indices.contains(push), let entry = pending[push] else { continue }
            end(push, judged(result.outcome, entry), result.durationNanoseconds)
        }
        report()
    }

    /// Notes what an answer says of the origin and the key, and keeps the refusal of one origin from the whole app.
    private func judged(_ outcome: PushOutcome, _ push: Pending) -> PushOutcome {
        guard case .answered(var answer) = outcome else { return outcome }
        if (200...204).contains(answer.status) {
            origins.accepted(push.origin)
            return outcome
        }
        guard answer.refusesVAPIDToken, !origins.refused(push.origin, subscription: push.request.token.hashValue) else {
            return outcome
        }
        answer.reason = WebPushReason.refusedHere
        return .answered(answer)
    }

    private func drop(_ push: Int, _ reason: String) { end(push, .notProcessed(reason), 0) }

    private func end(_ push: Int, _ outcome: PushOutcome, _ durationNanoseconds: UInt64) {
        guard let entry = pending[push] else { return }
        pending[push] = nil
        freePending.append(push)
        var isAnswered = false
        if case .answered = outcome { isAnswered = true }
        origins.end(entry.origin, isAnswered: isAnswered, nowNanoseconds: loop.nowNanoseconds)
        finish(entry.request.identifier, outcome, durationNanoseconds)
    }

    private func finish(_ identifier: UInt64, _ outcome: PushOutcome, _ durationNanoseconds: UInt64 = 0) {
        ended.append(PushResult(identifier: identifier, outcome: outcome, durationNanoseconds: durationNanoseconds))
    }

    private func report() {
        guard !ended.isEmpty else { return }
        let batch = ended
        ended = []
        ended.reserveCapacity(batch.count)
        handler?.pushesEnded(batch)
    }

    // MARK: Origins

    func routesChanged(_ changes: [RouteChange]) {
        for change in changes {
            guard let place = originOfRoute[change.route] else { continue }
            origins.reachabilityChanged(place, isReachable: change.isReachable)
        }
        reportReachability()
    }

    func http2IsMissing(_ place: Int) { origins.http2IsMissing(place) }

    /// Says whether the apps' routes lead somewhere, when that changes.
    ///
    /// What is not known any more counts as yes, so that the next push finds out.
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

    private func removeRoute(of place: Int) {
        guard let route = routes.removeValue(forKey: place) else { return }
        originOfRoute[route] = nil
        client.removeRoute(route)
    }

    private func armSweep() {
        guard sweep == nil, !isClosing else { return }
        sweep = loop.schedule(afterNanoseconds: Self.sweepNanoseconds) { [weak self] in self?.sweepOrigins() }
    }

    private func sweepOrigins() {
        sweep = nil
        for place in origins.timePassed(nowNanoseconds: loop.nowNanoseconds) { removeRoute(of: place) }
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
        for push in pending.indices where pending[push]?.isHandedOver == false {
            drop(push, "the transport is closing")
        }
        report()
    }
}
