import Essentials

/// The connections to one endpoint for one app, and the pushes that wait for them or travel on them: a pure state
/// machine.
///
/// Its methods are named after events; the returned actions have to be carried out in order. It reads no clock (the
/// time comes with the events, in monotonic nanoseconds), draws randomness from a seed, and knows pushes only by slots:
/// small numbers under which its shell keeps the requests.
///
/// Each push that arrived ends exactly once: `answered` returns it, or an action `end` carries it.
///
/// The shell, after any event: carries out the actions. At the latest at the end of its tick it submits while
/// `nextSubmission` has something, calls `submissionsEnded`, and sets its timer to `wakeUpNanoseconds`.
///
/// A connection goes through `connecting`, `proving`, `open` and `draining`; `PoolConnection.State` says when. The
/// number of connections lies between two limits. The pool grows while pushes wait because streams or flow-control
/// windows are exhausted, as long as growing raises the rate of answers (`PoolGrowth`). It shrinks by one at a time
/// when fewer would have sufficed for a hold time.
///
/// It cannot be copied: a copy would share its tables, and every change would then copy them.
public struct ConnectionPool: ~Copyable, Sendable {
    /// One push to be submitted on one connection.
    public struct Submission: Hashable, Sendable {
        /// The slot of the push.
        public let push: Int
        /// The connection.
        public let connection: Int
    }

    /// A push whose answer is complete.
    public struct Answered: Hashable, Sendable {
        /// The slot of the push, which has ended; the next arrival may get it.
        public let push: Int
        /// When it was submitted.
        public let submittedNanoseconds: UInt64
        /// Whether its connection drains and is empty now: `connectionToClose` has to be asked.
        public let isLastOfDraining: Bool
    }

    /// How connecting goes.
    public enum Circuit: Hashable, Sendable {
        /// The last connection was useful.
        ///
        /// Can transition to: `failing` when one fails.
        case closed
        /// Some attempts in a row failed; connections are tried one at a time, after a back-off.
        ///
        /// Can transition to: `closed` when a connection brings an answer or stays up; `open` after more failures.
        case failing(failures: Int)
        /// Many attempts in a row failed: an operator should look. Tried on as in `failing`.
        ///
        /// Can transition to: `closed`, as from `failing`.
        case open(failures: Int)
    }

    /// The bounds, as given; `deadlineChanged` may change one of them.
    public private(set) var limits: PoolLimits

    var connections: [PoolConnection] = []
    var pushes = PushTable()
    var failures = 0
    /// How often the provider token was refused since it was accepted last.
    var tokenRefusals = 0
    var notBeforeNanoseconds: UInt64 = 0
    /// Whether the last attempt to connect found the endpoint unusable.
    var isEndpointUnusable = false
    /// Whether it takes no new pushes, because `close` was called.
    public internal(set) var isClosing = false
    var nextConnection = 1
    var random: SplitMix
    /// Spreads submissions, if they are bounded in time.
    var pace: SubmissionPace?
    /// When to submit on, if only the bound in time made pushes wait.
    var pausedUntilNanoseconds: UInt64?

    /// The wanted number of connections, without draining ones.
    var target = 0
    var growth = PoolGrowth()
    /// The load of a connection when the pool last grew: its streams, or the pushes that its window allowed.
    var pushesPerConnection = 1
    /// The most pushes that waited or were in flight during this shrink interval.
    var peakOutstanding = 0
    var shrinkIntervalBeganNanoseconds: UInt64 = 0
    /// The counts of the pool's own decisions.
    public internal(set) var counts = PoolCounts()

    /// The index of the connection that events were about last: mostly the next is about it, too.
    private var latestIndex = 0
    /// How many more pushes go to the connection that was chosen last before another is looked for.
    private var runLength = 0
    private static let runLengthMaximum = 32

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - limits: the bounds.
    ///   - seed: for the jitter of the back-off.
    public init(limits: PoolLimits, seed: UInt64) {
        self.limits = limits
        random = SplitMix(seed: seed)
        pace = limits.pushesPerMinuteMaximum.map { SubmissionPace(perMinute: $0) }
    }

    // MARK: State

    /// How connecting goes.
    public var circuit: Circuit {
        if failures == 0 { return .closed }
        return failures < limits.failuresToOpenCircuit ? .failing(failures: failures) : .open(failures: failures)
    }

    /// Whether connecting has failed so often in a row that an operator should look.
    public var isCircuitOpen: Bool { failures >= limits.failuresToOpenCircuit }

    /// How many connections are in each state.
    public var states: PoolStates {
        var states = PoolStates()
        for index in connections.indices {
            switch connections[index].state {
            case .connecting: states.connecting += 1
            case .proving: states.proving += 1
            case .open: states.open += 1
            case .draining: states.draining += 1
            }
        }
        return states
    }

    /// How many connections there are in any state.
    public var connectionCount: Int { connections.count }

    /// How many pushes travel on a stream.
    public var inFlightCount: Int { pushes.inFlightCount }

    /// How many pushes wait for a stream.
    public var waitingCount: Int { pushes.waitingCount }

    /// Whether no push waits or travels.
    public var isEmpty: Bool { pushes.waitingCount + pushes.inFlightCount == 0 }

    /// Gives back the memory of pushes that have ended, if all have; slots begin at 0 again.
    ///
    /// - Returns: whether all have.
    public mutating func releaseMemory() -> Bool {
        guard isEmpty else { return false }
        pushes = PushTable()
        for index in connections.indices { connections[index].streams = StreamTable() }
        return true
    }

    /// Whether it was closed and no connection is left.
    public var isFinished: Bool { isClosing && connections.isEmpty }

    // MARK: Pushes

    /// The pool may begin to connect.
    public mutating func start(nowNanoseconds: UInt64) -> [PoolAction] {
        target = min(limits.connections, limits.connectionsUnused)
        growth.connectionsWanted(target)
        shrinkIntervalBeganNanoseconds = nowNanoseconds
        return replenish(nowNanoseconds)
    }

    /// A push may wait, and then its answer may take, as long as this from now on.
    public mutating func deadlineChanged(toNanoseconds deadline: UInt64) { limits.deadlineNanoseconds = deadline }

    /// A push is to be sent.
    ///
    /// - Parameters:
    ///   - bodyBytes: the size of its payload, which has to fit into a connection's flow-control window.
    ///   - nowNanoseconds: the time.
    /// - Returns: the slot under which it is known until it ends, or nil if the pool is full or closing.
    public mutating func pushArrived(bodyBytes: Int, nowNanoseconds: UInt64) -> Int? {
        guard !isClosing, pushes.waitingCount + pushes.inFlightCount < limits.outstandingMaximum else { return nil }
        return pushes.arrive(bodyBytes: bodyBytes, nowNanoseconds: nowNanoseconds)
    }

    /// The next push to submit, the oldest first, on the connection with the most free streams.
    ///
    /// Several pushes in a row go to the same connection, as far as it has room. So the others are not checked for each
    /// push, and the output fills fewer TLS records.
    ///
    /// - Parameter nowNanoseconds: the time.
    /// - Returns: nil if nothing waits, no stream is free, or the bound in time is met. Report each by `submitted` or
    ///   `submissionFailed` before asking for the next.
    public mutating func nextSubmission(nowNanoseconds: UInt64) -> Submission? {
        guard let push = pushes.firstWaiting else { return nil }
        if let pace, !pace.allows(nowNanoseconds: nowNanoseconds) { return nil }
        let bodyBytes = Int(pushes.records[push].bodyBytes)
        if runLength > 0, latestIndex < connections.count,
            connections[latestIndex].freeStreams(maximum: limits.streamsMaximum, bodyBytes: bodyBytes) > 0
        {
            runLength -= 1
            return Submission(push: push, connection: connections[latestIndex].identifier)
        }
        var best = 0
        for index in connections.indices {
            let free = connections[index].freeStreams(maximum: limits.streamsMaximum, bodyBytes: bodyBytes)
            if free > best {
                best = free
                latestIndex = index
            }
        }
        runLength = min(best, Self.runLengthMaximum) - 1
        return best > 0 ? Submission(push: push, connection: connections[latestIndex].identifier) : nil
    }

    /// A push was submitted on a stream.
    public mutating func submitted(_ submission: Submission, stream: Int32, nowNanoseconds: UInt64) {
        guard let index = index(of: submission.connection) else {
            preconditionFailure("a connection cannot go between nextSubmission and submitted")
        }
        pace?.submitted(nowNanoseconds: nowNanoseconds)
        connections[index].streams.insert(stream: stream, push: submission.push)
        connections[index].windowBytes -= Int(pushes.records[submission.push].bodyBytes)
        pushes.submit(
            submission.push, connection: submission.connection, stream: stream, nowNanoseconds: nowNanoseconds)
    }

    /// A connection did not accept a push; it is drained and replaced, and the push goes elsewhere.
    public mutating func submissionFailed(_ submission: Submission, nowNanoseconds: UInt64) -> [PoolAction] {
        var actions: [PoolAction] = []
        if pushes.countFailedSubmission(submission.push) > limits.resendsMaximum {
            end(submission.push, .notProcessed(.notAccepted), &actions)
        }
        guard let index = index(of: submission.connection) else { return actions }
        return actions + drain(index, nowNanoseconds)
    }

    /// The answer on a stream is complete.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - connection: the connection that it belongs to.
    ///   - provesToken: whether the peer has accepted our provider token: true for any answer but 403 with a reason
    ///     about the token.
    ///   - nowNanoseconds: the time.
    /// - Returns: the push, which has ended; nil if the stream is not known any more.
    public mutating func answered(
        stream: Int32, of connection: Int, provesToken: Bool, nowNanoseconds: UInt64
    ) -> Answered? {
        guard let index = index(of: connection), let push = connections[index].streams.remove(stream: stream) else {
            return nil
        }
        connections[index].heardNanoseconds = nowNanoseconds
        connections[index].deadlinesInARow = 0
        if !provesToken { tokenRefusals += 1 }
        if provesToken {
            connections[index].hasAnswered = true
            failures = 0
            tokenRefusals = 0
            if connections[index].state == .proving {
                connections[index].state = .open
                growth.connectionOpened(nowNanoseconds: nowNanoseconds)
            }
        }
        let submitted = pushes.records[push].submittedNanoseconds
        growth.answered(afterNanoseconds: nowNanoseconds &- submitted)
        pushes.end(push)
        let isLast = connections[index].state == .draining && connections[index].streams.count == 0
        return Answered(push: push, submittedNanoseconds: submitted, isLastOfDraining: isLast)
    }

    /// The answer on a stream says that the push was not looked at, for a reason that is gone by now: it waits again.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - connection: the connection that it belongs to.
    ///   - nowNanoseconds: the time.
    /// - Returns: false if the push cannot wait again, because that has happened too often or the pool closes; then
    ///   nothing has changed, and `answered` ends it.
    public mutating func answeredUnprocessed(stream: Int32, of connection: Int, nowNanoseconds: UInt64) -> Bool {
        guard !isClosing, let index = index(of: connection),
            let push = connections[index].streams.push(onStream: stream),
            Int(pushes.records[push].resends) < limits.resendsMaximum
        else { return false }
        connections[index].streams.remove(stream: stream)
        connections[index].heardNanoseconds = nowNanoseconds
        connections[index].deadlinesInARow = 0
        pushes.giveBack(push, isCounted: true)
        return true
    }

    /// Whether a connection that drains has become empty and is to be closed; ask after `answered`.
    public mutating func connectionToClose(after connection: Int) -> PoolAction? {
        guard let index = index(of: connection), connections[index].state == .draining,
            connections[index].streams.count == 0
        else { return nil }
        connections.remove(at: index)
        return .close(connection: connection)
    }

    /// The peer reset a stream before its answer was complete.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - connection: the connection that it belongs to.
    ///   - errorCode: the code of the RST_STREAM; REFUSED_STREAM means that nothing was processed (RFC 9113, section
    ///     8.7).
    ///   - nowNanoseconds: the time.
    /// - Returns: the actions.
    public mutating func streamReset(
        stream: Int32, of connection: Int, errorCode: UInt32, nowNanoseconds: UInt64
    ) -> [PoolAction] {
        guard let index = index(of: connection), let push = connections[index].streams.remove(stream: stream) else {
            return []
        }
        connections[index].heardNanoseconds = nowNanoseconds
        var actions: [PoolAction] = []
        if errorCode == Self.refusedStream {
            giveBackOrEnd(push, .refused, &actions)
        } else {
            end(push, .ambiguous(.streamReset(errorCode: errorCode)), &actions)
        }
        if let close = connectionToClose(after: connection) { actions.append(close) }
        return actions
    }

    // MARK: Bookkeeping shared by the extensions

    /// The HTTP/2 error code REFUSED_STREAM (RFC 9113, section 7).
    static let refusedStream: UInt32 = 7

    mutating func index(of connection: Int) -> Int? {
        if latestIndex < connections.count, connections[latestIndex].identifier == connection { return latestIndex }
        for index in connections.indices where connections[index].identifier == connection {
            latestIndex = index
            runLength = 0
            return index
        }
        return nil
    }

    /// How many connections there are that do not drain.
    var liveCount: Int { connections.count { $0.state != .draining } }

    mutating func end(_ push: Int, _ ending: PushEnding, _ actions: inout [PoolAction]) {
        pushes.end(push)
        actions.append(.end(push: push, ending))
    }

    /// A push was certainly not processed: it waits again, unless that has happened too often.
    ///
    /// A resend is not counted if its connection was useful to others: a server that sends GOAWAY after a hundred
    /// requests makes progress, however often the same push is unlucky. Its deadline is the limit then.
    mutating func giveBackOrEnd(
        _ push: Int, _ cause: PushEnding.NotProcessedCause, isCounted: Bool = true, _ actions: inout [PoolAction]
    ) {
        if isClosing {
            end(push, .notProcessed(.closing), &actions)
        } else if isCounted, Int(pushes.records[push].resends) >= limits.resendsMaximum {
            end(push, .notProcessed(cause), &actions)
        } else {
            pushes.giveBack(push, isCounted: isCounted)
        }
    }

    /// Opens missing connections: all at once in good times, else one at a time and not before the back-off is over.
    mutating func replenish(_ nowNanoseconds: UInt64) -> [PoolAction] {
        guard !isClosing, nowNanoseconds >= notBeforeNanoseconds else { return [] }
        var live = liveCount
        var connecting = connections.count { $0.state == .connecting }
        let connectingMaximum = failures == 0 ? target : 1
        var actions: [PoolAction] = []
        while live < target, connecting < connectingMaximum {
            connections.append(PoolConnection(identifier: nextConnection, nowNanoseconds: nowNanoseconds))
            actions.append(.connect(connection: nextConnection))
            nextConnection += 1
            live += 1
            connecting += 1
        }
        return actions
    }
}

/// Spreads submissions over time so that they stay under a quota: a value that gets the time as an argument.
///
/// It is the generic cell rate algorithm (ITU-T I.371): each submission has a theoretical time, one interval after that
/// of the one before, and may come as much early as the burst is long.
struct SubmissionPace: Hashable, Sendable {
    /// The submissions that may come at once after a pause, as a time at the usual rate.
    static let burstNanoseconds: UInt64 = 100_000_000
    /// How long the pool waits after it has met the bound, so that it does not wake up for each submission.
    static let pauseNanoseconds: UInt64 = 10_000_000

    private let intervalNanoseconds: UInt64
    /// The theoretical time of the next submission.
    private var nextNanoseconds: UInt64 = 0

    /// Bounds submissions to so many in a minute, at least one.
    init(perMinute count: Int) { intervalNanoseconds = 60_000_000_000 / UInt64(max(1, count)) }

    /// Whether a submission may happen now.
    func allows(nowNanoseconds: UInt64) -> Bool { nextNanoseconds <= nowNanoseconds &+ Self.burstNanoseconds }

    /// When to look again, after it was not allowed now.
    func retryNanoseconds(nowNanoseconds: UInt64) -> UInt64 {
        max(nextNanoseconds &- Self.burstNanoseconds, nowNanoseconds &+ Self.pauseNanoseconds)
    }

    /// A submission has happened.
    mutating func submitted(nowNanoseconds: UInt64) {
        nextNanoseconds = max(nextNanoseconds, nowNanoseconds) &+ intervalNanoseconds
    }
}
