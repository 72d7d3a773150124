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
        /// Can transition to: `open` at the first answer that proves the token; `draining` at a GOAWAY, when its token
        /// expired or its key was replaced, when it is not needed any more, or when the pool closes; gone when it is
        /// lost or does not answer a PING.
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

    /// Whether it is on its way to being of use.
    var isComing: Bool { state == .connecting || state == .proving }

    /// How many more streams SETTINGS and the state allow now.
    ///
    /// A connection that owes the answer to a PING takes none, so that no push is written into the void.
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
