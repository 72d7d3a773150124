import ConnectionPool
import Essentials
import Testing

@Suite("Pool: one event at a time")
struct ConnectionPoolTests {
    private let second: UInt64 = 1_000_000_000

    /// A pool of one ready connection, whose number is 1.
    private func makeReady(
        streams: Int = 10, proven: Bool = true, _ change: (inout PoolLimits) -> Void = { _ in }
    ) -> ConnectionPool {
        var limits = PoolLimits()
        limits.connections = 1
        change(&limits)
        var pool = ConnectionPool(limits: limits, seed: 1)
        #expect(pool.start(nowNanoseconds: 0) == (1...limits.connections).map { .connect(connection: $0) })
        #expect(pool.connectionReady(1, streamsMaximum: streams, windowBytes: 65_535, nowNanoseconds: 0) == [])
        if proven {
            _ = pool.pushArrived(bodyBytes: 100, nowNanoseconds: 0)
            #expect(submitAll(&pool, firstStream: 1, at: 0) == 1)
            #expect(pool.answered(stream: 1, of: 1, provesToken: true, nowNanoseconds: 0) != nil)
        }
        return pool
    }

    private func arrive(_ count: Int, _ pool: inout ConnectionPool, at now: UInt64 = 0) {
        for _ in 0..<count { #expect(pool.pushArrived(bodyBytes: 100, nowNanoseconds: now) != nil) }
    }

    private func submitAll(_ pool: inout ConnectionPool, firstStream: Int32, at now: UInt64) -> Int {
        var stream = firstStream
        var count = 0
        while let submission = pool.nextSubmission(nowNanoseconds: now) {
            pool.submitted(submission, stream: stream, nowNanoseconds: now)
            stream += 2
            count += 1
        }
        return count
    }

    @Test("One stream until the token is proven, then as many as the peer and our own limit allow")
    func provesFirst() {
        var pool = makeReady(streams: 4, proven: false)
        arrive(10, &pool)
        #expect(submitAll(&pool, firstStream: 1, at: 0) == 1)
        _ = pool.answered(stream: 1, of: 1, provesToken: false, nowNanoseconds: 0)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 1)
        _ = pool.answered(stream: 3, of: 1, provesToken: true, nowNanoseconds: 0)
        #expect(submitAll(&pool, firstStream: 5, at: 0) == 4)
        var capped = makeReady(streams: 1_000) { $0.streamsMaximum = 3 }
        arrive(10, &capped)
        #expect(submitAll(&capped, firstStream: 3, at: 0) == 3)
    }

    @Test("A GOAWAY asks for the replacement first, gives back what was not processed, and lets the rest end")
    func drains() {
        var pool = makeReady()
        arrive(5, &pool)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 5)
        #expect(pool.goAwayReceived(1, lastStream: 5, nowNanoseconds: 0) == [.connect(connection: 2)])
        #expect(pool.inFlightCount == 2)
        #expect(pool.waitingCount == 3)
        #expect(pool.nextSubmission(nowNanoseconds: 0) == nil)
        #expect(pool.answered(stream: 3, of: 1, provesToken: true, nowNanoseconds: 0) != nil)
        #expect(pool.connectionToClose(after: 1) == nil)
        #expect(pool.answered(stream: 5, of: 1, provesToken: true, nowNanoseconds: 0) != nil)
        #expect(pool.connectionToClose(after: 1) == .close(connection: 1))
    }

    @Test("An unusable endpoint ends what waits at once if the sender wants it so, until a connection is ready")
    func endsWaitingOnUnusableEndpoint() throws {
        var limits = PoolLimits()
        limits.connections = 1
        limits.endsWaitingOnUnusableEndpoint = true
        var pool = ConnectionPool(limits: limits, seed: 1)
        _ = pool.start(nowNanoseconds: 0)
        arrive(2, &pool)
        let reconnects = pool.connectionLost(
            1, lastWrittenStream: 0, isEndpointUnusable: true, nowNanoseconds: 0)
        #expect(reconnects == [])
        let unusable = PushEnding.notProcessed(.endpointUnusable)
        #expect(pool.submissionsEnded(nowNanoseconds: 0) == [.end(push: 0, unusable), .end(push: 1, unusable)])
        arrive(1, &pool, at: 1)
        #expect(pool.submissionsEnded(nowNanoseconds: 1).count == 1)
        let wakeUp = pool.wakeUpNanoseconds
        let due = try #require(wakeUp)
        arrive(1, &pool, at: due)
        #expect(pool.timePassed(nowNanoseconds: due) == [.connect(connection: 2)])
        #expect(pool.submissionsEnded(nowNanoseconds: due) == [])
        _ = pool.connectionReady(2, streamsMaximum: 10, windowBytes: 65_535, nowNanoseconds: due)
        #expect(submitAll(&pool, firstStream: 1, at: due) == 1)
        #expect(pool.waitingCount == 0)
    }

    @Test("An unusable endpoint lets pushes wait for their deadline if the sender does not say otherwise")
    func waitsAtAnUnusableEndpoint() {
        var limits = PoolLimits()
        limits.connections = 1
        var pool = ConnectionPool(limits: limits, seed: 1)
        _ = pool.start(nowNanoseconds: 0)
        arrive(1, &pool)
        _ = pool.connectionLost(1, lastWrittenStream: 0, isEndpointUnusable: true, nowNanoseconds: 0)
        #expect(pool.submissionsEnded(nowNanoseconds: 0) == [])
        #expect(pool.waitingCount == 1)
    }

    @Test("What was given back goes out before what came later, the oldest first")
    func keepsOrderByAge() {
        var pool = makeReady()
        arrive(4, &pool)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 4)
        arrive(4, &pool)
        _ = pool.connectionLost(1, lastWrittenStream: 1, nowNanoseconds: 0)
        _ = pool.timePassed(nowNanoseconds: second)
        _ = pool.connectionReady(2, streamsMaximum: 100, windowBytes: 65_535, nowNanoseconds: second)
        var order: [Int] = []
        var stream: Int32 = 1
        while let submission = pool.nextSubmission(nowNanoseconds: 0) {
            order.append(submission.push)
            pool.submitted(submission, stream: stream, nowNanoseconds: second)
            _ = pool.answered(stream: stream, of: 2, provesToken: true, nowNanoseconds: second)
            stream += 2
        }
        #expect(order == (0..<8).map { order[0] + $0 })
    }

    @Test("A deadline cancels the stream; three in a row ask for a PING; no answer to it evicts the connection")
    func pingsAndEvicts() {
        var pool = makeReady()
        arrive(5, &pool)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 5)
        #expect(pool.wakeUpNanoseconds == 20 * second)
        let actions = pool.timePassed(nowNanoseconds: 20 * second)
        #expect(actions.count == 11)
        #expect(actions.first == .cancel(connection: 1, stream: 3))
        #expect(actions.last == .ping(connection: 1))
        arrive(1, &pool, at: 20 * second)
        #expect(pool.nextSubmission(nowNanoseconds: 0) == nil, "nothing is written while the PING is out")
        #expect(pool.wakeUpNanoseconds == 25 * second)
        #expect(
            pool.timePassed(nowNanoseconds: 25 * second) == [.abandon(connection: 1), .connect(connection: 2)])
    }

    @Test("An answered PING brings the connection back")
    func pingSaves() {
        var pool = makeReady()
        arrive(3, &pool)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 3)
        _ = pool.timePassed(nowNanoseconds: 20 * second)
        pool.pingAcknowledged(1, nowNanoseconds: 21 * second)
        arrive(1, &pool, at: 21 * second)
        #expect(pool.nextSubmission(nowNanoseconds: 0) != nil)
        #expect(pool.timePassed(nowNanoseconds: 30 * second) == [])
    }

    @Test("A quiet connection is pinged")
    func pingsWhenQuiet() {
        var pool = makeReady()
        #expect(pool.wakeUpNanoseconds == 300 * second)
        #expect(pool.timePassed(nowNanoseconds: 300 * second) == [.ping(connection: 1)])
        pool.pingAcknowledged(1, nowNanoseconds: 300 * second)
        #expect(pool.wakeUpNanoseconds == 600 * second)
    }

    @Test("What waits too long ends as not processed, and so does what is one too many")
    func boundsWaiting() {
        var limits = PoolLimits()
        limits.outstandingMaximum = 2
        var pool = ConnectionPool(limits: limits, seed: 1)
        #expect(pool.start(nowNanoseconds: 0).count == 2)
        arrive(2, &pool)
        #expect(pool.pushArrived(bodyBytes: 100, nowNanoseconds: 0) == nil)
        let ended = pool.timePassed(nowNanoseconds: 20 * second).filter {
            if case .end(_, .notProcessed(.waitedTooLong)) = $0 { true } else { false }
        }
        #expect(ended.count == 2)
        #expect(pool.pushArrived(bodyBytes: 100, nowNanoseconds: 20 * second) != nil)
    }

    @Test("Failures in a row wait longer and longer, one attempt at a time, and open the circuit; an answer closes it")
    func backsOff() {
        var limits = PoolLimits()
        limits.connections = 3
        var pool = ConnectionPool(limits: limits, seed: 7)
        var now: UInt64 = 0
        #expect(pool.start(nowNanoseconds: now).count == 3)
        for number in 1...3 { _ = pool.connectionLost(number, lastWrittenStream: 0, nowNanoseconds: now) }
        #expect(pool.circuit == .failing(failures: 3))
        for attempt in 4...12 {
            let due = pool.wakeUpNanoseconds ?? .max
            #expect(due <= now + limits.backOff.longestWaitNanoseconds(afterFailures: attempt - 1))
            now = max(now, due)
            #expect(pool.timePassed(nowNanoseconds: now) == [.connect(connection: attempt)])
            _ = pool.connectionLost(attempt, lastWrittenStream: 0, nowNanoseconds: now)
        }
        #expect(pool.circuit == .open(failures: 12))
        now = pool.wakeUpNanoseconds ?? now
        #expect(pool.timePassed(nowNanoseconds: now) == [.connect(connection: 13)])
        #expect(
            pool.connectionReady(13, streamsMaximum: 1, windowBytes: 65_535, nowNanoseconds: now) == [
                .connect(connection: 14)
            ])
        arrive(1, &pool, at: now)
        #expect(submitAll(&pool, firstStream: 1, at: now) == 1)
        #expect(pool.circuit == .open(failures: 12))
        _ = pool.answered(stream: 1, of: 13, provesToken: true, nowNanoseconds: now)
        #expect(pool.circuit == .closed)
    }

    @Test("A connection that does not become ready in time is given up")
    func boundsConnecting() {
        var limits = PoolLimits()
        limits.connections = 1
        var pool = ConnectionPool(limits: limits, seed: 1)
        _ = pool.start(nowNanoseconds: 0)
        #expect(pool.wakeUpNanoseconds == 15 * second)
        #expect(pool.timePassed(nowNanoseconds: 15 * second).first == .abandon(connection: 1))
        #expect(pool.connectionReady(1, streamsMaximum: 1, windowBytes: 65_535, nowNanoseconds: 15 * second) == [])
        #expect(pool.circuit == .failing(failures: 1))
    }

    @Test("A server that limits the requests on a connection is followed without a pause")
    func followsRequestLimits() {
        var pool = makeReady()
        for number in 1...50 {
            let next = number + 1
            let actions = pool.goAwayReceived(number, lastStream: .max, nowNanoseconds: 0)
            #expect(actions == [.connect(connection: next), .close(connection: number)])
            _ = pool.connectionReady(next, streamsMaximum: 10, windowBytes: 65_535, nowNanoseconds: 0)
            arrive(1, &pool)
            #expect(submitAll(&pool, firstStream: 1, at: 0) == 1)
            _ = pool.answered(stream: 1, of: next, provesToken: true, nowNanoseconds: 0)
        }
        #expect(pool.circuit == .closed)
    }

    @Test("A server that says GOAWAY before it has answered anything is tried again after a back-off only")
    func backsOffFromUselessConnections() {
        var pool = makeReady(proven: false)
        #expect(pool.goAwayReceived(1, lastStream: 0, nowNanoseconds: 0) == [.close(connection: 1)])
        #expect(pool.circuit == .failing(failures: 1))
    }

    @Test("A connection that takes no request is drained, and a push that none takes ends")
    func boundsFailedSubmissions() {
        var pool = makeReady { $0.backOff = BackOff(baseNanoseconds: 0, capNanoseconds: 0) }
        arrive(1, &pool)
        var ended: [PoolAction] = []
        for number in 1...4 {
            guard let submission = pool.nextSubmission(nowNanoseconds: 0) else {
                return #expect(Bool(false), "it waits")
            }
            ended += pool.submissionFailed(submission, nowNanoseconds: 0).filter {
                if case .end = $0 { true } else { false }
            }
            _ = pool.timePassed(nowNanoseconds: 0)
            _ = pool.connectionReady(number + 1, streamsMaximum: 10, windowBytes: 65_535, nowNanoseconds: 0)
        }
        #expect(ended.count == 1)
        #expect(pool.waitingCount == 0)
    }

    @Test("A provider token that is refused again and again ends what waits, opens no connection, and is tried again")
    func givesUpOnTheToken() {
        var pool = makeReady(proven: false) {
            $0.tokenRefusalsMaximum = 3
            $0.connectionsMaximum = 8
        }
        arrive(10, &pool)
        var now: UInt64 = 0
        for attempt in 0..<3 {
            #expect(pool.submissionsEnded(nowNanoseconds: now) == [])
            #expect(submitAll(&pool, firstStream: Int32(1 + 2 * attempt), at: now) == 1)
            now += 10 * second
            let stream = Int32(1 + 2 * attempt)
            _ = pool.answered(stream: stream, of: 1, provesToken: false, nowNanoseconds: now)
        }
        #expect(submitAll(&pool, firstStream: 7, at: now) == 1)
        let ended = pool.submissionsEnded(nowNanoseconds: now)
        #expect(ended.count == 6)
        #expect(ended.allSatisfy { if case .end(_, .notProcessed(.tokenRefused)) = $0 { true } else { false } })
        _ = pool.answered(stream: 7, of: 1, provesToken: true, nowNanoseconds: now)
        arrive(5, &pool, at: now)
        #expect(submitAll(&pool, firstStream: 9, at: now) == 5)
        #expect(pool.submissionsEnded(nowNanoseconds: now) == [])
    }

    @Test("A new key gets new connections, while what is in flight on the old ones may still be answered")
    func replacesTheKey() {
        var pool = makeReady()
        arrive(3, &pool)
        #expect(submitAll(&pool, firstStream: 3, at: 0) == 3)
        #expect(pool.keyReplaced(nowNanoseconds: 0) == [.connect(connection: 2)])
        #expect(pool.circuit == .closed)
        arrive(1, &pool)
        #expect(pool.nextSubmission(nowNanoseconds: 0) == nil)
        _ = pool.connectionReady(2, streamsMaximum: 10, windowBytes: 65_535, nowNanoseconds: 0)
        #expect(pool.nextSubmission(nowNanoseconds: 0)?.connection == 2)
        #expect(pool.answered(stream: 3, of: 1, provesToken: true, nowNanoseconds: 0) != nil)
    }

    @Test("A push that is unlucky with GOAWAY again and again goes out all the same while others are answered")
    func isPatientWithRequestLimits() {
        var pool = makeReady()
        arrive(20, &pool)
        for number in 1...15 {
            #expect(submitAll(&pool, firstStream: 1_001, at: 0) == 10)
            let first = pool.answered(stream: 1_001, of: number, provesToken: true, nowNanoseconds: 0)
            #expect(first != nil)
            let actions = pool.goAwayReceived(number, lastStream: 1_001, nowNanoseconds: 0)
            #expect(!actions.contains { if case .end = $0 { true } else { false } })
            _ = pool.connectionReady(number + 1, streamsMaximum: 10, windowBytes: 65_535, nowNanoseconds: 0)
            arrive(2, &pool)
            // The new connection proves the token with the oldest.
            #expect(submitAll(&pool, firstStream: 1, at: 0) == 1)
            _ = pool.answered(stream: 1, of: number + 1, provesToken: true, nowNanoseconds: 0)
        }
    }
}
