import ConnectionPool

/// A pool on a long way: a peer that keeps its promises, at some distance and with some limits, in steps of a
/// millisecond.
struct LinkWorld: ~Copyable {
    /// The properties of the way and the peer.
    struct Link {
        /// From a request to its answer.
        var latencyMilliseconds = 25
        var streamsMaximum = 20
        /// The flow-control window, which is opened again when the answer comes.
        var windowBytes = 65_535
        var bodyBytes = 200
        /// How many requests the peer answers in a millisecond, over all connections.
        var answersPerMillisecondMaximum = Int.max
        /// Whether what was read opens the window again.
        var opensWindow = true
    }

    private struct Request {
        var connection: Int
        var stream: Int32
        var dueMilliseconds: Int
    }

    private struct Peer {
        var readyMilliseconds: Int
        var isReady = false
        var windowBytes = 0
        var nextStream: Int32 = 1
    }

    let link: Link
    var pool: ConnectionPool
    private(set) var nowMilliseconds = 0
    private var peers: [Int: Peer] = [:]
    private var underWay: [Request] = []
    private(set) var answeredCount = 0
    private(set) var largestConnectionCount = 0
    private(set) var closedCount = 0

    init(_ link: Link, _ change: (inout PoolLimits) -> Void = { _ in }) {
        self.link = link
        var limits = PoolLimits()
        limits.connections = 1
        limits.connectionsMaximum = 8
        change(&limits)
        pool = ConnectionPool(limits: limits, seed: 1)
        perform(pool.start(nowNanoseconds: 0))
    }

    private var now: UInt64 { UInt64(nowMilliseconds) * 1_000_000 }

    /// How many connections are not on their way out.
    var connectionCount: Int { pool.states.connecting + pool.states.proving + pool.states.open }

    /// Lets time pass while a sender keeps so many pushes outstanding.
    mutating func run(milliseconds: Int, outstanding: Int) {
        for _ in 0..<milliseconds {
            nowMilliseconds += 1
            connect()
            answer()
            while pool.waitingCount + pool.inFlightCount < outstanding {
                guard pool.pushArrived(bodyBytes: link.bodyBytes, nowNanoseconds: now) != nil else { break }
            }
            if let due = pool.wakeUpNanoseconds, due <= now { perform(pool.timePassed(nowNanoseconds: now)) }
            pump()
            largestConnectionCount = max(largestConnectionCount, connectionCount)
        }
    }

    mutating func goAway(_ connection: Int) {
        perform(pool.goAwayReceived(connection, lastStream: .max, nowNanoseconds: now))
    }

    private mutating func connect() {
        for number in peers.keys.sorted() {
            guard let peer = peers[number], !peer.isReady, peer.readyMilliseconds <= nowMilliseconds else { continue }
            peers[number]?.isReady = true
            peers[number]?.windowBytes = link.windowBytes
            perform(
                pool.connectionReady(
                    number, streamsMaximum: link.streamsMaximum, windowBytes: link.windowBytes, nowNanoseconds: now))
        }
    }

    private mutating func answer() {
        var left = link.answersPerMillisecondMaximum
        while let request = underWay.first, request.dueMilliseconds <= nowMilliseconds, left > 0 {
            underWay.removeFirst()
            left -= 1
            guard peers[request.connection] != nil else { continue }
            if link.opensWindow {
                peers[request.connection]?.windowBytes += link.bodyBytes
                pool.windowChanged(request.connection, windowBytes: peers[request.connection]?.windowBytes ?? 0)
            }
            let answered = pool.answered(
                stream: request.stream, of: request.connection, provesToken: true, nowNanoseconds: now)
            if answered != nil { answeredCount += 1 }
            if let close = pool.connectionToClose(after: request.connection) { perform([close]) }
        }
    }

    private mutating func pump() {
        while let submission = pool.nextSubmission(nowNanoseconds: now) {
            let number = submission.connection
            guard let stream = peers[number]?.nextStream else { return }
            peers[number]?.nextStream += 2
            peers[number]?.windowBytes -= link.bodyBytes
            underWay.append(
                Request(
                    connection: number, stream: stream, dueMilliseconds: nowMilliseconds + link.latencyMilliseconds))
            pool.submitted(submission, stream: stream, nowNanoseconds: now)
        }
        perform(pool.submissionsEnded(nowNanoseconds: now))
    }

    private mutating func perform(_ actions: [PoolAction]) {
        for action in actions {
            switch action {
            case .connect(let number):
                // The name, TCP and TLS take three ways there and back.
                peers[number] = Peer(readyMilliseconds: nowMilliseconds + 3 * link.latencyMilliseconds)
            case .close(let number), .abandon(let number):
                peers[number] = nil
                closedCount += 1
            case .ping(let number): pool.pingAcknowledged(number, nowNanoseconds: now)
            case .cancel, .end: break
            }
        }
    }
}
