/// The events of passing time.
extension ConnectionPool {
    /// The time when `timePassed` has to be called next; nil for never.
    public var wakeUpNanoseconds: UInt64? {
        var due = isClosing ? .max : sizeDueNanoseconds
        if let push = pushes.firstWaiting {
            due = min(due, pushes.records[push].arrivedNanoseconds &+ limits.deadlineNanoseconds)
        }
        if let pausedUntilNanoseconds { due = min(due, pausedUntilNanoseconds) }
        if let push = pushes.firstInFlight {
            due = min(due, pushes.records[push].submittedNanoseconds &+ limits.deadlineNanoseconds)
        }
        var live = 0
        var connecting = 0
        for connection in connections {
            if connection.state != .draining { live += 1 }
            if connection.state == .connecting { connecting += 1 }
            due = min(due, self.due(of: connection))
        }
        if !isClosing, live < target, connecting == 0 { due = min(due, notBeforeNanoseconds) }
        return due == .max ? nil : due
    }

    /// Time has passed: deadlines, PINGs, slow connects, and the end of a back-off.
    ///
    /// `submissionsEnded`, which has to follow, decides the pool's size.
    public mutating func timePassed(nowNanoseconds: UInt64) -> [PoolAction] {
        var actions: [PoolAction] = []
        endOverdueWaiting(nowNanoseconds, &actions)
        endOverdueInFlight(nowNanoseconds, &actions)
        for connection in connections.map(\.identifier) { check(connection, nowNanoseconds, &actions) }
        return actions + replenish(nowNanoseconds)
    }

    /// When a connection has to be looked at.
    private func due(of connection: PoolConnection) -> UInt64 {
        switch connection.state {
        case .connecting: connection.beganNanoseconds &+ limits.connectTimeoutNanoseconds
        case .proving, .open:
            if let pingDue = connection.pingDueNanoseconds {
                pingDue
            } else if isStarved(connection) {
                connection.heardNanoseconds &+ limits.starvationNanoseconds
            } else {
                connection.heardNanoseconds &+ limits.idlePingNanoseconds
            }
        case .draining: .max
        }
    }

    /// Whether a connection only waits for its window, while a push waits for it.
    private func isStarved(_ connection: PoolConnection) -> Bool {
        guard let push = pushes.firstWaiting else { return false }
        return connection.isStarved(bodyBytes: Int(pushes.records[push].bodyBytes))
    }

    /// Gives up all pushes that wait, because none of them can be sent.
    ///
    /// - Returns: their slots, the oldest first; they have ended.
    public mutating func waitingGivenUp() -> [Int] {
        var ended: [Int] = []
        while let push = pushes.firstWaiting {
            pushes.end(push)
            ended.append(push)
        }
        return ended
    }

    private mutating func endOverdueWaiting(_ nowNanoseconds: UInt64, _ actions: inout [PoolAction]) {
        while let push = pushes.firstWaiting,
            pushes.records[push].arrivedNanoseconds &+ limits.deadlineNanoseconds <= nowNanoseconds
        {
            end(push, .notProcessed(.waitedTooLong), &actions)
        }
    }

    private mutating func endOverdueInFlight(_ nowNanoseconds: UInt64, _ actions: inout [PoolAction]) {
        while let push = pushes.firstInFlight,
            pushes.records[push].submittedNanoseconds &+ limits.deadlineNanoseconds <= nowNanoseconds
        {
            let record = pushes.records[push]
            actions.append(.cancel(connection: record.connection, stream: record.stream))
            end(push, .ambiguous(.deadline), &actions)
            guard let index = index(of: record.connection) else { continue }
            connections[index].streams.remove(stream: record.stream)
            connections[index].deadlinesInARow += 1
            if let close = connectionToClose(after: record.connection) { actions.append(close) }
        }
    }

    /// Sends a PING on a connection that is quiet or whose pushes met their deadlines in a row.
    ///
    /// Drops one that does not answer a PING or does not become ready, and replaces one whose window stays shut.
    ///
    /// Some tokens are never answered while others on the same connection are, so a deadline alone says nothing about
    /// the connection; the PING does.
    private mutating func check(_ connection: Int, _ nowNanoseconds: UInt64, _ actions: inout [PoolAction]) {
        guard let index = index(of: connection), connections[index].state != .draining else { return }
        let isDue = due(of: connections[index]) <= nowNanoseconds
        if connections[index].state == .connecting || connections[index].pingDueNanoseconds != nil {
            guard isDue else { return }
            if connections[index].state != .connecting { counts.evictedSilent += 1 }
            actions.append(.abandon(connection: connection))
            actions += connectionLost(connection, lastWrittenStream: .max, nowNanoseconds: nowNanoseconds)
        } else if isDue, isStarved(connections[index]) {
            counts.evictedStarved += 1
            actions += drain(index, nowNanoseconds)
        } else if isDue || connections[index].deadlinesInARow >= limits.deadlinesBeforePing {
            connections[index].pingDueNanoseconds = nowNanoseconds &+ limits.pingTimeoutNanoseconds
            actions.append(.ping(connection: connection))
        }
    }
}
