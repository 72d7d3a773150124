/// One connection as the pool sees it.
struct PoolConnection: Sendable {
    enum State: Hashable, Sendable {
        /// Being made: name looked up, TCP, TLS, waiting for the peer's SETTINGS.
        ///
        /// Can transition to: `proving` when the SETTINGS arrive; gone when it fails, takes too long, is not needed any
        /// more, or when the pool closes.
        case connecting
        /// Ready, but the peer has not yet accepted our provider token: one stream at a time.
        ///
        /// Next states: `open` at the first answer that proves the token; `draining` at a GOAWAY, an expired token, a
        /// replaced key, when it is not needed any more, or when the pool closes; gone when it is lost or does not
        /// answer a PING.
        case proving
        /// Ready, as many streams as SETTINGS and the flow-control window allow.
        ///
        /// Can transition to: `draining` and gone, for the same reasons as `proving`; `draining` also when the peer
        /// keeps the window shut.
        case open
        /// Takes no new pushes; those in flight may still be answered.
        ///
        /// Can transition to: gone when the last of them ended, or when it is lost.
        case draining
    }

    let identifier: Int
    var state = State.connecting
    var streams = StreamTable()
    /// SETTINGS_MAX_CONCURRENT_STREAMS of the peer.
    var peerStreamsMaximum = 0
    /// How many bytes of bodies the peer will take now, over all streams.
    var windowBytes = 0
    var deadlinesInARow = 0
    /// Whether it has brought any answer at all.
    var hasAnswered = false
    var beganNanoseconds: UInt64
    var readyNanoseconds: UInt64 = 0
    var heardNanoseconds: UInt64 = 0
    /// When the answer to the outstanding PING is due.
    var pingDueNanoseconds: UInt64?

    init(identifier: Int, nowNanoseconds: UInt64) {
        self.identifier = identifier
        beganNanoseconds = nowNanoseconds
    }

    var isReady: Bool { state == .proving || state == .open }

    /// Whether it is not useful yet but may become so.
    var isComing: Bool { state == .connecting || state == .proving }

    /// How many more streams SETTINGS and the state allow now.
    ///
    /// A connection with an unanswered PING takes none, so that no push is lost on a dead connection.
    func freeStreams(maximum: Int) -> Int {
        guard pingDueNanoseconds == nil else { return 0 }
        switch state {
        case .connecting, .draining: return 0
        case .proving: return min(1, maximum, peerStreamsMaximum) - streams.count
        case .open: return min(maximum, peerStreamsMaximum) - streams.count
        }
    }

    /// How many more streams it can take now for pushes of this size.
    ///
    /// A request whose body does not fit into the window would occupy a stream and could not go elsewhere any more.
    func freeStreams(maximum: Int, bodyBytes: Int) -> Int {
        bodyBytes <= windowBytes ? freeStreams(maximum: maximum) : 0
    }

    /// Whether the peer has answered everything and yet keeps the window shut to a push of this size.
    func isStarved(bodyBytes: Int) -> Bool {
        state == .open && pingDueNanoseconds == nil && streams.count == 0 && bodyBytes > windowBytes
    }
}

/// How many connections of a pool are in each state.
public struct PoolStates: Hashable, Sendable {
    /// Being made.
    public var connecting = 0
    /// Ready, with one request out to prove the provider token.
    public var proving = 0
    /// Ready, as many streams as allowed.
    public var open = 0
    /// Taking no new pushes.
    public var draining = 0

    /// Creates counts of nothing.
    public init() {}
}

/// An action for the shell of a `ConnectionPool` after an event.
public enum PoolAction: Hashable, Sendable {
    /// Connect, and report `connectionReady` or `connectionLost` under this number.
    case connect(connection: Int)
    /// Close the connection with a GOAWAY; it has no pushes in flight.
    case close(connection: Int)
    /// Drop the connection: it did not become ready in time, or does not answer.
    case abandon(connection: Int)
    /// Send a PING.
    case ping(connection: Int)
    /// Reset the stream with CANCEL: its push has ended.
    case cancel(connection: Int, stream: Int32)
    /// The push ended without an answer. The pool has forgotten it; its slot may be reused by the next arrival.
    case end(push: Int, PushEnding)
}

/// The counts of a pool's own decisions since its creation; they only rise.
public struct PoolCounts: Hashable, Sendable {
    /// Connections opened because all streams were taken.
    public var openedForStreams = 0
    /// Connections opened because flow-control windows were exhausted while streams were free.
    public var openedForWindow = 0
    /// How often growing brought nothing, so that it was taken back.
    public var grownInVain = 0
    /// Connections closed because they were not needed any more.
    public var retired = 0
    /// Connections dropped because they did not answer a PING.
    public var evictedSilent = 0
    /// Connections replaced because their peer kept the flow-control window shut.
    public var evictedStarved = 0

    /// Creates counts of nothing.
    public init() {}
}

/// How a push ended without an answer, and why.
public enum PushEnding: Hashable, Sendable {
    /// Why a push was certainly not processed.
    public enum NotProcessedCause: Hashable, Sendable {
        /// It found no stream before its deadline.
        case waitedTooLong
        /// The peer refused its stream (REFUSED_STREAM), again and again.
        case refused
        /// It was above the last stream of a GOAWAY, again and again.
        case aboveGoAway
        /// The connection was lost before it was written, again and again.
        case neverWritten
        /// The pool is closing.
        case closing
        /// The peer refuses the provider token repeatedly, with any push.
        case tokenRefused
        /// The endpoint proved unusable: its certificate is not trusted, or it does not speak HTTP/2.
        case endpointUnusable
        /// It could not be handed to the connection, again and again.
        case notAccepted
    }

    /// The reason why the outcome of a push is unknown.
    public enum AmbiguousCause: Hashable, Sendable {
        /// No answer came before its deadline.
        case deadline
        /// The connection was lost after it was written.
        case connectionLost
        /// The peer reset its stream with an error that says nothing about processing.
        case streamReset(errorCode: UInt32)
        /// The pool closed before an answer came.
        case closing
    }

    /// Certainly not processed.
    case notProcessed(NotProcessedCause)
    /// Perhaps processed.
    case ambiguous(AmbiguousCause)
}
