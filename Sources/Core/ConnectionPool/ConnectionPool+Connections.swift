import Essentials

/// What happens to connections.
extension ConnectionPool {
    /// A connection is ready: TLS is up, HTTP/2 agreed on, and the peer's first SETTINGS have arrived.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - streamsMaximum: the peer's SETTINGS_MAX_CONCURRENT_STREAMS.
    ///   - windowBytes: how many bytes of bodies the peer takes now, over all streams.
    ///   - nowNanoseconds: the time.
    /// - Returns: what to do.
    public mutating func connectionReady(
        _ connection: Int, streamsMaximum: Int, windowBytes: Int, nowNanoseconds: UInt64
    ) -> [PoolAction] {
        guard let index = index(of: connection), connections[index].state == .connecting else { return [] }
        connections[index].state = .proving
        isEndpointUnusable = false
        connections[index].peerStreamsMaximum = streamsMaximum
        connections[index].windowBytes = windowBytes
        connections[index].readyNanoseconds = nowNanoseconds
        connections[index].heardNanoseconds = nowNanoseconds
        return replenish(nowNanoseconds)
    }

    /// The peer changed how many streams it allows; those that are open above it are left to end by themselves.
    public mutating func settingsChanged(_ connection: Int, streamsMaximum: Int, nowNanoseconds: UInt64) {
        guard let index = index(of: connection) else { return }
        connections[index].peerStreamsMaximum = streamsMaximum
        connections[index].heardNanoseconds = nowNanoseconds
    }

    /// The flow-control window of a connection changed other than by a submission: the peer opened it, or a request
    /// ended whose body had not been written.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - windowBytes: how many bytes of bodies the peer takes now, over all streams, beside those submitted already.
    public mutating func windowChanged(_ connection: Int, windowBytes: Int) {
        guard let index = index(of: connection) else { return }
        connections[index].windowBytes = windowBytes
    }

    /// The peer will take no new streams (GOAWAY): the replacement is asked for first, then the connection drains.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - lastStream: the last stream that the peer may have processed; those above it were not (RFC 9113, section
    ///     6.8).
    ///   - nowNanoseconds: the time.
    /// - Returns: what to do.
    public mutating func goAwayReceived(
        _ connection: Int, lastStream: Int32, nowNanoseconds: UInt64
    ) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        var actions: [PoolAction] = []
        let unprocessed = takeStreams(above: lastStream, of: index)
        let isCounted = !connections[index].hasAnswered
        for push in unprocessed { giveBackOrEnd(push, .aboveGoAway, isCounted: isCounted, &actions) }
        return actions + drain(index, nowNanoseconds)
    }

    /// A connection is of no more use for new pushes, because the peer has seen an expired provider token on it and
    /// may go on to refuse newer ones; it is drained and replaced.
    public mutating func tokenExpired(on connection: Int, nowNanoseconds: UInt64) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        return drain(index, nowNanoseconds)
    }

    /// The peer has answered on a connection that it is shutting down, or that it throttles it as a whole: it is
    /// drained and replaced, a little later if it was made only just now.
    public mutating func connectionFaulty(_ connection: Int, nowNanoseconds: UInt64) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        return drain(index, nowNanoseconds, for: .fault)
    }

    /// What connections carry is to come under another signing key, which APNs wants on connections of its own: all
    /// are replaced, and those that are in use drain.
    public mutating func keyReplaced(nowNanoseconds: UInt64) -> [PoolAction] {
        tokenRefusals = 0
        var actions: [PoolAction] = []
        for identifier in connections.filter(\.isReady).map(\.identifier) {
            guard let index = index(of: identifier) else { continue }
            actions += drain(index, nowNanoseconds, for: .ownChoice)
        }
        return actions
    }

    /// A connection ended, or could not be made.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - lastWrittenStream: the last stream whose request has been handed to the operating system, as far as that is
    ///     known; the pushes on later ones were certainly not processed, those on the others perhaps.
    ///   - isEndpointUnusable: whether it could not be made for a reason that only a correction can remove.
    ///   - nowNanoseconds: the time.
    /// - Returns: what to do.
    public mutating func connectionLost(
        _ connection: Int, lastWrittenStream: Int32, isEndpointUnusable: Bool = false, nowNanoseconds: UInt64
    ) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        var actions: [PoolAction] = []
        let isCounted = !connections[index].hasAnswered
        for push in takeStreams(above: lastWrittenStream, of: index) {
            giveBackOrEnd(push, .neverWritten, isCounted: isCounted, &actions)
        }
        for push in takeStreams(above: 0, of: index) { end(push, .ambiguous(.connectionLost), &actions) }
        let lost = connections.remove(at: index)
        // Another address of the same name may be good.
        if isEndpointUnusable, !connections.contains(where: \.isReady) { self.isEndpointUnusable = true }
        if lost.state != .draining { countLoss(of: lost, wasAsked: false, nowNanoseconds) }
        return actions + replenish(nowNanoseconds)
    }

    /// The peer answered a PING.
    public mutating func pingAcknowledged(_ connection: Int, nowNanoseconds: UInt64) {
        guard let index = index(of: connection) else { return }
        connections[index].pingDueNanoseconds = nil
        connections[index].deadlinesInARow = 0
        connections[index].heardNanoseconds = nowNanoseconds
    }

    // MARK: Closing

    /// The pool is to end: what waits ends at once, what is in flight may still be answered.
    public mutating func close(nowNanoseconds: UInt64) -> [PoolAction] {
        guard !isClosing else { return [] }
        isClosing = true
        var actions: [PoolAction] = []
        while let push = pushes.firstWaiting { end(push, .notProcessed(.closing), &actions) }
        for connection in connections.map(\.identifier) {
            guard let index = index(of: connection) else { continue }
            if connections[index].state == .connecting {
                connections.remove(at: index)
                actions.append(.abandon(connection: connection))
            } else {
                actions += drain(index, nowNanoseconds)
            }
        }
        return actions
    }

    /// The time for answers is over: what is still in flight ends as ambiguous, and every connection is closed.
    public mutating func closeNow(nowNanoseconds: UInt64) -> [PoolAction] {
        var actions = close(nowNanoseconds: nowNanoseconds)
        while let push = pushes.firstInFlight { end(push, .ambiguous(.closing), &actions) }
        actions += connections.map { .close(connection: $0.identifier) }
        connections = []
        return actions
    }

    // MARK: Steps

    /// Why a connection drains.
    enum DrainCause: Hashable {
        /// It is not needed any more, or has to make room: says nothing about the peer.
        case ownChoice
        /// The peer asked for a replacement, which may be made at once if the connection brought an answer.
        case askedByPeer
        /// The peer fails on it: the next may do no better, so it waits a little.
        case fault
    }

    /// Drains a connection: opens its replacement, then lets it end, at once if nothing is in flight on it.
    ///
    /// - Parameters:
    ///   - index: the index of the connection.
    ///   - nowNanoseconds: the time.
    ///   - cause: why, which decides whether it counts as a failure.
    /// - Returns: what to do.
    mutating func drain(
        _ index: Int, _ nowNanoseconds: UInt64, for cause: DrainCause = .askedByPeer
    ) -> [PoolAction] {
        let connection = connections[index]
        guard connection.state != .draining else {
            return connectionToClose(after: connection.identifier).map { [$0] } ?? []
        }
        connections[index].state = .draining
        if cause != .ownChoice { countLoss(of: connection, wasAsked: cause == .askedByPeer, nowNanoseconds) }
        var actions = replenish(nowNanoseconds)
        if let close = connectionToClose(after: connection.identifier) { actions.append(close) }
        return actions
    }

    /// Decides whether a connection's end was a failure, and when the next may be made.
    ///
    /// The end of one that brought answers, or was ready for a while, is no failure. If it was lost soon after it
    /// began, the next waits a little all the same, unless the peer asked for its replacement (`wasAsked`), as servers
    /// do that limit the requests on a connection.
    private mutating func countLoss(of connection: PoolConnection, wasAsked: Bool, _ nowNanoseconds: UInt64) {
        let isStable =
            connection.isReady && nowNanoseconds >= connection.readyNanoseconds + limits.stableNanoseconds
        if isStable { failures = 0 }
        guard !isStable, !(wasAsked && connection.hasAnswered) else { return }
        if !connection.hasAnswered { failures += 1 }
        let wait = limits.backOff.waitNanoseconds(afterFailures: max(1, failures), using: &random)
        notBeforeNanoseconds = max(notBeforeNanoseconds, nowNanoseconds &+ wait)
    }

    /// Takes the pushes on the streams above a number off a connection, youngest first, as `PushTable.giveBack` likes
    /// it.
    private mutating func takeStreams(above lastStream: Int32, of index: Int) -> [Int] {
        let taken = connections[index].streams.entries.filter { $0.stream > lastStream }
        for entry in taken { connections[index].streams.remove(stream: entry.stream) }
        return taken.map { Int($0.push) }.sorted { pushes.records[$0].sequence > pushes.records[$1].sequence }
    }
}
