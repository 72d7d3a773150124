import Essentials

/// The events of connections.
extension ConnectionPool {
    /// A connection is ready: TLS is up, HTTP/2 agreed on, and the peer's first SETTINGS have arrived.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - streamsMaximum: the peer's SETTINGS_MAX_CONCURRENT_STREAMS.
    ///   - windowBytes: how many bytes of bodies the peer takes now, over all streams.
    ///   - nowNanoseconds: the time.
    /// - Returns: the actions.
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

    /// The peer changed its limit of streams; open streams above it end by themselves.
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
    /// - Returns: the actions.
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

    /// The peer has seen an expired provider token on the connection and may go on to refuse newer ones; the connection
    /// is drained and replaced.
    public mutating func tokenExpired(on connection: Int, nowNanoseconds: UInt64) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        return drain(index, nowNanoseconds)
    }

    /// The peer has answered that it shuts the connection down, or throttles it as a whole: the connection is drained
    /// and replaced, a little later if it is new.
    public mutating func connectionFaulty(_ connection: Int, nowNanoseconds: UInt64) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        return drain(index, nowNanoseconds, for: .fault)
    }

    /// The signing key was replaced, which needs new connections at APNs: all connections are replaced, and those in
    /// use drain.
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
    ///   - lastWrittenStream: the last stream whose request has been handed to the operating system, if known; pushes
    ///     on later streams were certainly not processed, those on earlier ones perhaps.
    ///   - isEndpointUnusable: whether it could not be made for a reason that only a correction can remove.
    ///   - nowNanoseconds: the time.
    /// - Returns: the actions.
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

    /// The pool ends: waiting pushes end at once, pushes in flight may still be answered.
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

    /// The time for answers is over: pushes in flight end as ambiguous, and every connection is closed.
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
        /// The peer asked for a replacement, which may be made at once if the connection was useful.
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
    /// - Returns: the actions.
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
    /// A connection that brought answers, or was ready for a while, was useful. If it was lost soon after it began, the
    /// next one waits a little all the same. The exception is a replacement that the peer asked for (`wasAsked`), as
    /// servers do that limit the requests on a connection.
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
