/// How many connections the pool wants: it grows under pressure and shrinks when it has been too large for a while.
extension ConnectionPool {
    /// Everything that could be submitted has been: the shell says so after each run of `nextSubmission`.
    ///
    /// - Parameter nowNanoseconds: the time.
    /// - Returns: the actions, nearly always none.
    public mutating func submissionsEnded(nowNanoseconds: UInt64) -> [PoolAction] {
        // On a proved connection the refusals speak of their pushes, and others may be accepted.
        if tokenRefusals >= limits.tokenRefusalsMaximum, pushes.waitingCount > 0,
            !connections.contains(where: { $0.state == .open })
        {
            return endWaiting(.tokenRefused, nowNanoseconds)
        }
        if endsWaitingForEndpoint, nowNanoseconds < notBeforeNanoseconds, pushes.waitingCount > 0 {
            return endWaiting(.endpointUnusable, nowNanoseconds)
        }
        let waiting = pushes.waitingCount
        let isPaced = waiting > 0 && pace?.allows(nowNanoseconds: nowNanoseconds) == false
        pausedUntilNanoseconds = isPaced ? pace?.retryNanoseconds(nowNanoseconds: nowNanoseconds) : nil
        // More connections would not help pushes that only wait for their time.
        growth.submissionsEnded(areSomeWaiting: waiting > 0 && !isPaced, nowNanoseconds: nowNanoseconds)
        peakOutstanding = max(peakOutstanding, waiting + pushes.inFlightCount)
        guard !isClosing else { return [] }
        if target == 0, waiting > 0 { return setTarget(1, nowNanoseconds) }
        if target < limits.connections, peakOutstanding > 0 { return setTarget(limits.connections, nowNanoseconds) }
        return sizeDueNanoseconds <= nowNanoseconds ? checkSize(nowNanoseconds) : []
    }

    /// Whether pushes do not wait for the endpoint, which cannot be used until somebody corrects something.
    private var endsWaitingForEndpoint: Bool { limits.endsWaitingOnUnusableEndpoint && isEndpointUnusable }

    /// Ends the waiting pushes, because a longer wait cannot help them.
    private mutating func endWaiting(
        _ cause: PushEnding.NotProcessedCause, _ nowNanoseconds: UInt64
    ) -> [PoolAction] {
        var actions: [PoolAction] = []
        while let push = pushes.firstWaiting { end(push, .notProcessed(cause), &actions) }
        growth.submissionsEnded(areSomeWaiting: false, nowNanoseconds: nowNanoseconds)
        return actions
    }

    /// When growing or shrinking has to be thought about next.
    var sizeDueNanoseconds: UInt64 { min(growthDueNanoseconds, shrinkingDueNanoseconds) }

    private var shrinkingDueNanoseconds: UInt64 {
        target > limits.connections ? shrinkIntervalBeganNanoseconds &+ limits.shrinkIntervalNanoseconds : .max
    }

    /// The time when the measurement is complete, and the awaited connections have had their time.
    private var growthDueNanoseconds: UInt64 {
        guard var due = growth.dueNanoseconds(pressureNanoseconds: limits.pressureNanoseconds), failures == 0,
            tokenRefusals == 0,
            target < limits.connectionsLimit || growth.step != nil, liveCount >= target
        else { return .max }
        guard growth.openingsToCome > 0 else { return due }
        for connection in connections where connection.isComing {
            due = max(due, connection.beganNanoseconds &+ limits.growthPatienceNanoseconds)
        }
        return due
    }

    /// Grows or shrinks if it is time to.
    private mutating func checkSize(_ nowNanoseconds: UInt64) -> [PoolAction] {
        var actions = growthDueNanoseconds <= nowNanoseconds ? decideGrowth(nowNanoseconds) : []
        if shrinkingDueNanoseconds <= nowNanoseconds { actions += decideShrinking(nowNanoseconds) }
        return actions
    }

    private mutating func decideGrowth(_ nowNanoseconds: UInt64) -> [PoolAction] {
        let areSomeToCome = growth.openingsToCome > 0 && connections.contains { $0.isComing }
        if areSomeToCome {
            growth.connectionsAreLate()
        } else if let step = growth.judge(
            nowNanoseconds: nowNanoseconds, pauseNanoseconds: limits.growthPauseNanoseconds)
        {
            counts.grownInVain += 1
            return retire(target - max(limits.connections, step.before), nowNanoseconds)
        }
        guard target < limits.connectionsLimit else { return [] }
        let ready = max(1, connections.count { $0.isReady })
        pushesPerConnection = max(1, pushes.inFlightCount / ready)
        // The number of connections like the present ones that the queue needs, at most twice as many.
        let needed = (pushes.waitingCount + pushesPerConnection - 1) / pushesPerConnection
        let added = min(areSomeToCome ? 1 : max(1, target), max(1, needed), limits.connectionsLimit - target)
        let isForWindow = connections.contains { $0.freeStreams(maximum: limits.streamsMaximum) > 0 }
        if isForWindow { counts.openedForWindow += added } else { counts.openedForStreams += added }
        growth.grown(from: areSomeToCome ? 0 : target, by: added, nowNanoseconds: nowNanoseconds)
        return setTarget(target + added, nowNanoseconds)
    }

    /// Closes one connection if the others would have carried all pushes of the shrink interval.
    private mutating func decideShrinking(_ nowNanoseconds: UInt64) -> [PoolAction] {
        // A quarter is kept free, so that a pool does not shrink and grow in alternation.
        let needed = (4 * peakOutstanding + 3 * pushesPerConnection - 1) / (3 * pushesPerConnection)
        let isTooLarge = growth.pressedSinceNanoseconds == nil && needed < target
        beginShrinkInterval(nowNanoseconds)
        return isTooLarge ? retire(1, nowNanoseconds) : []
    }

    private mutating func beginShrinkInterval(_ nowNanoseconds: UInt64) {
        shrinkIntervalBeganNanoseconds = nowNanoseconds
        peakOutstanding = pushes.waitingCount + pushes.inFlightCount
    }

    private mutating func setTarget(_ count: Int, _ nowNanoseconds: UInt64) -> [PoolAction] {
        growth.connectionsWanted(growth.openingsToCome + count - target)
        target = count
        beginShrinkInterval(nowNanoseconds)
        return replenish(nowNanoseconds)
    }

    /// Closes surplus connections: those with the fewest pushes, and the youngest of these.
    private mutating func retire(_ count: Int, _ nowNanoseconds: UInt64) -> [PoolAction] {
        var actions: [PoolAction] = []
        for _ in 0..<max(0, count) {
            target -= 1
            guard liveCount > target else { continue }
            let candidates = connections.indices.filter { connections[$0].state != .draining }
            let least = candidates.min { left, right in
                let (left, right) = (connections[left], connections[right])
                return (left.streams.count, right.identifier) < (right.streams.count, left.identifier)
            }
            guard let least else { continue }
            counts.retired += 1
            actions += drain(least, nowNanoseconds, for: .ownChoice)
        }
        beginShrinkInterval(nowNanoseconds)
        return actions
    }
}
