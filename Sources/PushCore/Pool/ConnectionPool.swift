/// The connections to one endpoint for one app, and the pushes that wait for them or travel on them: a pure state
/// machine.
///
/// Its methods are named after what happened; those that return actions want them carried out in order. It reads no
/// clock (the time comes with the events, in monotonic nanoseconds), draws randomness from a seed, and knows pushes
/// only by slots: small numbers under which its shell keeps the requests.
///
/// Each push that arrived ends exactly once: `answered` returns it, or an action `end` carries it.
///
/// The shell, after any event: carries out the actions, then submits while `nextSubmission()` has something, then sets
/// its timer to `wakeUpNanoseconds`.
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
        /// The last connection was of use.
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

    /// The bounds, as given.
    public let limits: PoolLimits

    var connections: [PoolConnection] = []
    var pushes = PushTable()
    var failures = 0
    var notBeforeNanoseconds: UInt64 = 0
    /// Whether it takes no new pushes, because `close` was called.
    public internal(set) var isClosing = false
    var nextConnection = 1
    var random: SplitMix

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - limits: the bounds.
    ///   - seed: for the jitter of the back-off.
    public init(limits: PoolLimits, seed: UInt64) {
        self.limits = limits
        random = SplitMix(seed: seed)
    }

    // MARK: What it looks like

    /// How connecting goes.
    public var circuit: Circuit {
        if failures == 0 { return .closed }
        return failures < limits.failuresToOpenCircuit ? .failing(failures: failures) : .open(failures: failures)
    }

    /// How many connections can take pushes.
    public var readyConnectionCount: Int { connections.count { $0.isReady } }

    /// How many connections there are in any state.
    public var connectionCount: Int { connections.count }

    /// How many pushes travel on a stream.
    public var inFlightCount: Int { pushes.inFlightCount }

    /// How many pushes wait for a stream.
    public var waitingCount: Int { pushes.waitingCount }

    /// Whether it was closed and nothing is left.
    public var isFinished: Bool { isClosing && connections.isEmpty }

    // MARK: Pushes

    /// The pool may begin to connect.
    public mutating func start(nowNanoseconds: UInt64) -> [PoolAction] { replenish(nowNanoseconds) }

    /// A push is to be sent.
    ///
    /// - Returns: the slot under which it is known until it ends, or nil if the pool is full or closing.
    public mutating func pushArrived(nowNanoseconds: UInt64) -> Int? {
        guard !isClosing, pushes.waitingCount + pushes.inFlightCount < limits.outstandingMaximum else { return nil }
        return pushes.arrive(nowNanoseconds: nowNanoseconds)
    }

    /// The next push to submit, the oldest first, on the connection with the most free streams.
    ///
    /// - Returns: nil if nothing waits or no stream is free. Report each by `submitted` or `submissionFailed` before
    ///   asking for the next.
    public func nextSubmission() -> Submission? {
        guard let push = pushes.firstWaiting else { return nil }
        var best = 0
        var connection = 0
        for index in connections.indices {
            let free = connections[index].freeStreams(maximum: limits.streamsMaximum)
            if free > best {
                best = free
                connection = connections[index].identifier
            }
        }
        return best > 0 ? Submission(push: push, connection: connection) : nil
    }

    /// A push was submitted on a stream.
    public mutating func submitted(_ submission: Submission, stream: Int32, nowNanoseconds: UInt64) {
        guard let index = index(of: submission.connection) else {
            preconditionFailure("a connection cannot go between nextSubmission and submitted")
        }
        connections[index].streams.insert(stream: stream, push: submission.push)
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
        if provesToken {
            connections[index].hasAnswered = true
            failures = 0
            if connections[index].state == .proving { connections[index].state = .open }
        }
        let submitted = pushes.records[push].submittedNanoseconds
        pushes.end(push)
        let isLast = connections[index].state == .draining && connections[index].streams.count == 0
        return Answered(push: push, submittedNanoseconds: submitted, isLastOfDraining: isLast)
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
    ///   - errorCode: of the RST_STREAM; REFUSED_STREAM means that nothing was processed (RFC 9113, section 8.7).
    ///   - nowNanoseconds: the time.
    /// - Returns: what to do.
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

    func index(of connection: Int) -> Int? {
        for index in connections.indices where connections[index].identifier == connection { return index }
        return nil
    }

    mutating func end(_ push: Int, _ ending: PushEnding, _ actions: inout [PoolAction]) {
        pushes.end(push)
        actions.append(.end(push: push, ending))
    }

    /// A push was certainly not processed: it waits again, unless that has happened too often.
    mutating func giveBackOrEnd(
        _ push: Int, _ cause: PushEnding.NotProcessedCause, _ actions: inout [PoolAction]
    ) {
        if isClosing {
            end(push, .notProcessed(.closing), &actions)
        } else if Int(pushes.records[push].resends) >= limits.resendsMaximum {
            end(push, .notProcessed(cause), &actions)
        } else {
            pushes.giveBack(push)
        }
    }

    /// Opens what is missing: all at once while all is well, else one at a time and not before the back-off is over.
    mutating func replenish(_ nowNanoseconds: UInt64) -> [PoolAction] {
        guard !isClosing, nowNanoseconds >= notBeforeNanoseconds else { return [] }
        var live = connections.count { $0.state != .draining }
        var connecting = connections.count { $0.state == .connecting }
        let connectingMaximum = failures == 0 ? limits.connections : 1
        var actions: [PoolAction] = []
        while live < limits.connections, connecting < connectingMaximum {
            connections.append(PoolConnection(identifier: nextConnection, nowNanoseconds: nowNanoseconds))
            actions.append(.connect(connection: nextConnection))
            nextConnection += 1
            live += 1
            connecting += 1
        }
        return actions
    }
}
