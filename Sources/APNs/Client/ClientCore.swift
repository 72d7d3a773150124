internal import Crypto
internal import EventLoop
internal import PushCore

/// The part of an `APNsClient` that lives on its loop: the routes, the results of the tick, and the one timer.
final class ClientCore {
    let loop: EventLoop
    /// The way back to here from another thread, while the client is open.
    private(set) var fromElsewhere: LoopBound<ClientCore>?
    private var routes: [Route] = []
    private var handler: (any PushTransportHandler)?
    private var results: [PushResult] = []
    private var isTouched = false
    private var timer: EventLoop.Timer?
    private var timerDueNanoseconds: UInt64 = .max
    private let closeTimeoutNanoseconds: UInt64
    private var whenClosed: (() -> Void)?
    /// Runs at the end of a tick; kept, so that asking for it allocates nothing.
    private lazy var endOfTickWork: () -> Void = { [self] in tickEnded() }

    init(loop: EventLoop, closeTimeoutNanoseconds: UInt64) {
        self.loop = loop
        self.closeTimeoutNanoseconds = closeTimeoutNanoseconds
    }

    /// Adds the routes; once, before `start`.
    func addRoutes(_ parts: [(configuration: APNsRoute, context: TLSContext, log: RouteLog)], seed: UInt64) {
        routes = parts.enumerated().map { index, part in
            Route(
                index: index, configuration: part.configuration, context: part.context, log: part.log, owner: self,
                seed: seed &+ UInt64(index))
        }
    }

    func start(handler: any PushTransportHandler, fromElsewhere: LoopBound<ClientCore>) {
        self.handler = handler
        self.fromElsewhere = fromElsewhere
        for route in routes { route.start() }
    }

    func send(_ requests: [PushRequest]) {
        let now = loop.nowNanoseconds
        for request in requests {
            if routes.indices.contains(request.route) {
                routes[request.route].send(request, nowNanoseconds: now)
            } else {
                report(
                    PushResult(
                        identifier: request.identifier, outcome: .notProcessed("there is no such route"),
                        durationNanoseconds: 0))
            }
        }
        for route in routes where route.pool.waitingCount > 0 { route.pump() }
    }

    func resolved(_ answer: AddressResolver.Answer, route index: Int, connection: Int) {
        guard routes.indices.contains(index) else { return }
        routes[index].resolved(answer, for: connection)
    }

    // MARK: The tick

    /// Something happened in this tick, so that its end has work to do.
    func touch() {
        guard !isTouched else { return }
        isTouched = true
        loop.atEndOfTick(endOfTickWork)
    }

    func report(_ result: PushResult) {
        results.append(result)
        touch()
    }

    private func tickEnded() {
        isTouched = false
        if !results.isEmpty {
            let batch = results
            results = []
            results.reserveCapacity(batch.count)
            handler?.pushesEnded(batch)
        }
        for route in routes { route.reportSizes() }
        armTimer()
        checkClosed()
    }

    private func armTimer() {
        let due = routes.reduce(UInt64.max) { min($0, $1.pool.wakeUpNanoseconds ?? .max) }
        // A timer that is early does no harm: it finds nothing due and is set anew.
        guard due < timerDueNanoseconds else { return }
        if let timer { loop.cancel(timer) }
        timerDueNanoseconds = due
        let now = loop.nowNanoseconds
        timer = loop.schedule(afterNanoseconds: due > now ? due - now : 0) { [self] in timerFired() }
    }

    private func timerFired() {
        timer = nil
        timerDueNanoseconds = .max
        for route in routes { route.timePassed() }
        touch()
    }

    // MARK: Closing

    func close(whenClosed: @escaping () -> Void) {
        self.whenClosed = whenClosed
        for route in routes { route.close() }
        loop.schedule(afterNanoseconds: closeTimeoutNanoseconds) { [self] in
            for route in routes { route.closeNow() }
            touch()
        }
        touch()
    }

    func connectionEnded() { if whenClosed != nil { touch() } }

    private func checkClosed() {
        guard let whenClosed, results.isEmpty,
            routes.allSatisfy({ $0.pool.isFinished && $0.connections.isEmpty })
        else { return }
        self.whenClosed = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        routes = []
        handler = nil
        fromElsewhere = nil
        endOfTickWork = {}
        whenClosed()
    }
}
