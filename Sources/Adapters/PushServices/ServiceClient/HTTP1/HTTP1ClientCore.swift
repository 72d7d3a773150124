internal import EventLoop
internal import HTTPClient
import Notifications

/// The part of an `HTTP1Client` that lives on its loop: the routes, the results of the tick, and the one timer.
final class HTTP1ClientCore {
    let loop: EventLoop
    private let http: HTTPMultiClient
    private let closeTimeoutNanoseconds: UInt64
    private var pools: [Int: HTTP1RoutePool] = [:]
    private var handler: (any PushTransportHandler)?
    private var results: [AttemptResult] = []
    private var routeChanges: [RouteChange] = []
    private var isTouched = false
    private var timer: EventLoop.Timer?
    private var timerDueNanoseconds: UInt64 = .max
    private var whenClosed: (() -> Void)?
    private var isClosed = false

    init(loop: EventLoop, http: HTTPMultiClient, closeTimeoutNanoseconds: UInt64) {
        self.loop = loop
        self.http = http
        self.closeTimeoutNanoseconds = closeTimeoutNanoseconds
    }

    func addRoute(_ number: Int, _ route: HTTP1Route, _ log: HTTP1RouteLog, seed: UInt64) {
        guard whenClosed == nil, !isClosed else { return }
        let pool = HTTP1RoutePool(
            index: number, route: route, log: log, owner: self, seed: seed &+ UInt64(truncatingIfNeeded: number))
        pools[number] = pool
        if handler != nil { pool.start() }
    }

    func removeRoute(_ number: Int) {
        guard let pool = pools.removeValue(forKey: number) else { return }
        pool.close()
        pool.tickEnded()
    }

    func deadlineChanged(ofRoute number: Int, toNanoseconds deadline: UInt64) {
        pools[number]?.deadlineChanged(toNanoseconds: deadline)
    }

    func start(handler: any PushTransportHandler) {
        self.handler = handler
        for pool in pools.values { pool.start() }
        touch()
    }

    func send(_ requests: [PushRequest]) {
        let now = loop.nowNanoseconds
        for request in requests {
            guard let pool = pools[request.route] else {
                report(
                    AttemptResult(
                        identifier: request.identifier, outcome: .notProcessed("there is no such route"),
                        durationNanoseconds: 0))
                continue
            }
            pool.send(request, nowNanoseconds: now)
        }
        touch()
    }

    /// An authorizer may have something new.
    func authorizationChanged() {
        for pool in pools.values { pool.authorizationChanged() }
        touch()
    }

    func post(_ request: PostRequest, ended: @escaping (PostOutcome) -> Void) { http.post(request, ended: ended) }

    func probe(_ destination: PostDestination, ended: @escaping (PostFailure?) -> Void) {
        http.probe(destination, ended: ended)
    }

    // MARK: The tick

    /// Something happened in this tick, so that its end has work to do.
    func touch() {
        guard !isTouched, !isClosed else { return }
        isTouched = true
        loop.atEndOfTick { [weak self] in self?.tickEnded() }
    }

    func report(_ result: AttemptResult) {
        results.append(result)
        touch()
    }

    /// Whether a route leads to its push service has become known, or has changed.
    func routeChanged(_ change: RouteChange) { routeChanges.append(change) }

    private func tickEnded() {
        isTouched = false
        for pool in pools.values { pool.tickEnded() }
        // Reported before the results, because the receiver of an unprocessed push may ask whether to send it again.
        if !routeChanges.isEmpty {
            let changes = routeChanges
            routeChanges = []
            handler?.routesChanged(changes)
        }
        if !results.isEmpty {
            let batch = results
            results = []
            handler?.pushesEnded(batch)
        }
        armTimer()
        checkClosed()
    }

    private func armTimer() {
        let due = pools.values.reduce(UInt64.max) { min($0, $1.dueNanoseconds) }
        // An early timer does no harm: it finds nothing due and is set again.
        guard due < timerDueNanoseconds else { return }
        if let timer { loop.cancel(timer) }
        timerDueNanoseconds = due
        let now = loop.nowNanoseconds
        timer = loop.schedule(afterNanoseconds: due > now ? due - now : 0) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        timer = nil
        timerDueNanoseconds = .max
        touch()
    }

    // MARK: Closing

    func close(whenClosed: @escaping () -> Void) {
        self.whenClosed = whenClosed
        for pool in pools.values { pool.close() }
        loop.schedule(afterNanoseconds: closeTimeoutNanoseconds) { [weak self] in
            self?.http.close()
            self?.touch()
        }
        touch()
    }

    private func checkClosed() {
        guard let whenClosed, results.isEmpty, !isTouched else { return }
        // A probe ends with the client.
        guard pools.values.allSatisfy(\.isIdle) else { return }
        isClosed = true
        self.whenClosed = nil
        http.close()
        if let timer { loop.cancel(timer) }
        timer = nil
        handler = nil
        pools = [:]
        whenClosed()
    }
}
