import ConnectionPool
internal import Crypto
internal import EventLoop
internal import Metrics
import Notifications

/// The part of a `ServiceClient` that lives on its loop: the pools of all routes, the results of the tick, and the one
/// timer.
final class ClientCore {
    let loop: EventLoop
    /// The way back to here from another thread, while the client is open.
    private(set) var fromElsewhere: LoopBound<ClientCore>?
    /// The routes by their numbers; nil for a number that is free again.
    private var routes: [RoutePools?] = []
    /// The pools of all routes, also of removed ones until their connections have ended.
    private var pools: [EndpointPool] = []
    /// The index of the next pool, which no other gets.
    private var nextPoolIndex = 0
    /// Whether a route was removed whose pools have not ended.
    private var hasRemovedPools = false
    /// The pools to which something happened in this tick.
    private var touchedPools: [EndpointPool] = []
    private var handler: (any PushTransportHandler)?
    private var results: [AttemptResult] = []
    private var routeChanges: [RouteChange] = []
    private var isTouched = false
    private var timer: EventLoop.Timer?
    private var timerDueNanoseconds: UInt64 = .max
    private let closeTimeoutNanoseconds: UInt64
    private var whenClosed: (() -> Void)?
    /// How many pools begin to connect at the same time.
    ///
    /// Each handshake takes memory, and hundreds at once would leave it behind in pieces.
    private static let poolsStartedTogether = 32
    /// How long after these the next ones begin.
    private static let startIntervalNanoseconds: UInt64 = 20_000_000
    /// Runs at the end of a tick; stored, so that scheduling it allocates nothing.
    private lazy var endOfTickWork: () -> Void = { [self] in tickEnded() }

    init(loop: EventLoop, closeTimeoutNanoseconds: UInt64) {
        self.loop = loop
        self.closeTimeoutNanoseconds = closeTimeoutNanoseconds
    }

    /// Adds a route; its pools connect at once if the client has been started.
    ///
    /// - Returns: its number, the lowest that is free.
    func addRoute(_ part: RouteParts, seed: UInt64) -> Int {
        let number = routes.firstIndex { $0 == nil } ?? routes.count
        let rejections = part.configuration.hasQuarantine ? RouteRejections(seed: seed, log: part.log) : nil
        let main = addPool(.main, part, rejections, route: number, seed: seed)
        let quarantine = rejections.map { addPool(.quarantine, part, $0, route: number, seed: seed) }
        let added = RoutePools(main: main, quarantine: quarantine, rejections: rejections)
        if number == routes.count { routes.append(added) } else { routes[number] = added }
        guard handler != nil, whenClosed == nil else { return number }
        main.start()
        quarantine?.start()
        return number
    }

    /// Removes a route, whose number is free at once; its connections close when they are empty.
    func removeRoute(_ number: Int) {
        guard routes.indices.contains(number), let removed = routes[number] else { return }
        routes[number] = nil
        hasRemovedPools = true
        removed.main.close()
        removed.quarantine?.close()
    }

    /// The pushes of a route may take as long as this from now on.
    func deadlineChanged(ofRoute number: Int, toNanoseconds deadline: UInt64) {
        guard routes.indices.contains(number), let route = routes[number] else { return }
        route.main.deadlineChanged(toNanoseconds: deadline)
        route.quarantine?.deadlineChanged(toNanoseconds: deadline)
    }

    private func addPool(
        _ kind: PoolKind, _ part: RouteParts, _ rejections: RouteRejections?, route: Int, seed: UInt64
    ) -> EndpointPool {
        let pool = EndpointPool(
            index: nextPoolIndex, route: route, kind: kind, part: part, rejections: rejections, owner: self,
            seed: seed &+ UInt64(nextPoolIndex))
        nextPoolIndex += 1
        pools.append(pool)
        return pool
    }

    func start(handler: any PushTransportHandler, fromElsewhere: LoopBound<ClientCore>) {
        self.handler = handler
        self.fromElsewhere = fromElsewhere
        for (index, pool) in pools.enumerated() {
            let delay = UInt64(index / Self.poolsStartedTogether) * Self.startIntervalNanoseconds
            guard delay > 0 else {
                pool.start()
                continue
            }
            loop.schedule(afterNanoseconds: delay) { if !pool.pool.isClosing { pool.start() } }
        }
    }

    func send(_ requests: [PushRequest]) {
        let now = loop.nowNanoseconds
        var next = 0
        // Pushes of one batch are mostly of one route, which is looked up once for all that follow each other.
        while next < requests.count {
            let route = requests[next].route
            let pools = routes.indices.contains(route) ? routes[route] : nil
            let first = next
            while next < requests.count, requests[next].route == route { next += 1 }
            if let pools { send(requests[first..<next], by: pools, now) } else { refuse(requests[first..<next]) }
        }
    }

    private func send(_ requests: ArraySlice<PushRequest>, by route: RoutePools, _ nowNanoseconds: UInt64) {
        for request in requests {
            let isSuspect = route.rejections?.isSuspect(request.token, nowNanoseconds: nowNanoseconds) ?? false
            (isSuspect ? route.quarantine ?? route.main : route.main).send(request, nowNanoseconds: nowNanoseconds)
        }
    }

    private func refuse(_ requests: ArraySlice<PushRequest>) {
        for request in requests {
            report(
                AttemptResult(
                    identifier: request.identifier, outcome: .notProcessed("there is no such route"),
                    durationNanoseconds: 0))
        }
    }

    func resolved(_ answer: AddressResolver.Answer, pool index: Int, connection: Int) {
        pools.first { $0.index == index }?.resolved(answer, for: connection)
    }

    /// An authorizer may have something new.
    func authorizationChanged() {
        for pool in pools { pool.authorizationChanged() }
    }

    // MARK: The tick

    /// Something happened in this tick, so that its end has work to do.
    func touch() {
        guard !isTouched else { return }
        isTouched = true
        loop.atEndOfTick(endOfTickWork)
    }

    func touched(_ pool: EndpointPool) {
        touchedPools.append(pool)
        touch()
    }

    func report(_ result: AttemptResult) {
        results.append(result)
        touch()
    }

    /// Whether a route leads to its push service has become known, or has changed.
    func routeChanged(_ change: RouteChange) {
        routeChanges.append(change)
        touch()
    }

    private func tickEnded() {
        isTouched = false
        var due = UInt64.max
        // A pool that is touched by what another does is in the list of the next tick.
        let touched = touchedPools
        touchedPools.removeAll(keepingCapacity: true)
        for pool in touched { due = min(due, pool.tickEnded()) }
        // Reported before the results, because the receiver of an unprocessed push may ask whether to send it again.
        if !routeChanges.isEmpty {
            let changes = routeChanges
            routeChanges = []
            handler?.routesChanged(changes)
        }
        if !results.isEmpty {
            let batch = results
            results = []
            results.reserveCapacity(batch.count)
            handler?.pushesEnded(batch)
        }
        if hasRemovedPools { forgetEndedPools() }
        armTimer(due)
        checkClosed()
    }

    private func forgetEndedPools() {
        let removed = pools.filter { pool in routes.indices.contains(pool.route) ? !isCurrent(pool) : true }
        let ended = removed.filter { $0.pool.isFinished && $0.connections.isEmpty }
        pools.removeAll { pool in ended.contains { $0 === pool } }
        hasRemovedPools = ended.count < removed.count
    }

    private func isCurrent(_ pool: EndpointPool) -> Bool {
        let route = routes[pool.route]
        return route?.main === pool || route?.quarantine === pool
    }

    private func armTimer(_ dueOfTouched: UInt64) {
        // The due times of untouched pools are in the timer that is set, unless it has just fired.
        let due = timer == nil ? pools.reduce(dueOfTouched) { min($0, $1.dueNanoseconds) } : dueOfTouched
        // An early timer does no harm: it finds nothing due and is set again.
        guard due < timerDueNanoseconds else { return }
        if let timer { loop.cancel(timer) }
        timerDueNanoseconds = due
        let now = loop.nowNanoseconds
        timer = loop.schedule(afterNanoseconds: due > now ? due - now : 0) { [self] in timerFired() }
    }

    private func timerFired() {
        timer = nil
        timerDueNanoseconds = .max
        for pool in pools { pool.timePassed() }
        touch()
    }

    // MARK: Closing

    func close(whenClosed: @escaping () -> Void) {
        self.whenClosed = whenClosed
        for pool in pools { pool.close() }
        loop.schedule(afterNanoseconds: closeTimeoutNanoseconds) { [self] in
            for pool in pools { pool.closeNow() }
            touch()
        }
        touch()
    }

    func connectionEnded() { if whenClosed != nil { touch() } }

    private func checkClosed() {
        guard let whenClosed, results.isEmpty,
            pools.allSatisfy({ $0.pool.isFinished && $0.connections.isEmpty })
        else { return }
        self.whenClosed = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        pools = []
        routes = []
        routes = []
        handler = nil
        fromElsewhere = nil
        endOfTickWork = {}
        whenClosed()
    }
}

/// The parts that all pools of a route share.
struct RouteParts {
    let configuration: ServiceRoute
    let context: TLSContext
    let log: EndpointPoolLog
}

/// The pools of one route.
private struct RoutePools {
    let main: EndpointPool
    /// For pushes to tokens that were rejected lately, if the service has it.
    let quarantine: EndpointPool?
    /// Which tokens those are.
    let rejections: RouteRejections?
}

/// Which tokens of a route were rejected lately; both pools of the route write it, the client reads it for each push.
///
/// Lives on the client's loop.
final class RouteRejections {
    private var rejections: RecentRejections
    private let log: EndpointPoolLog

    init(seed: UInt64, log: EndpointPoolLog) {
        rejections = RecentRejections(seed: seed)
        self.log = log
    }

    /// Whether a push to this token belongs into quarantine.
    func isSuspect(_ token: borrowing DeviceToken, nowNanoseconds: UInt64) -> Bool {
        guard !rejections.isEmpty, rejections.contains(token, nowNanoseconds: nowNanoseconds) else { return false }
        log.metrics.quarantined.add()
        return true
    }

    /// A push to the token was accepted.
    func accepted(_ token: DeviceToken) { rejections.accepted(token) }

    /// The token was called bad.
    func rejected(_ token: DeviceToken, nowNanoseconds: UInt64) {
        rejections.rejected(token, nowNanoseconds: nowNanoseconds)
    }
}
