import CNghttp2
public import Crypto
public import EventLoop
import Glibc

/// One HTTP/2 connection over TLS (RFC 9113), client or server, on one event loop.
///
/// It owns the socket, the TLS session and the nghttp2 session. From `start` until `http2Closed` the loop's
/// registration keeps it alive. Frames submitted during a tick are written once, at the end of the tick.
public final class HTTP2Connection {
    /// How far the connection has come; it only moves down this list.
    enum State {
        case created
        case connecting
        case handshaking
        case running
        case closed
    }

    /// The loop that all calls have to be made on.
    public let loop: EventLoop
    /// Whether this side opened the connection and sends the requests.
    public let isClient: Bool
    let configuration: Configuration
    let socket: Int32

    var state = State.created
    var handler: (any HTTP2Handler)?
    var tls: TLSSession?
    var session: OpaquePointer?
    let memory = SessionMemory()
    var registration: EventLoop.Registration?
    var interest: ReadyEvents = []
    var readinessTimer: EventLoop.Timer?

    var bodies = BodyTable()
    var output: OutputBuffer
    /// Gives memory back that was used last, see `releaseMemoryLater`.
    var releaseTimer: EventLoop.Timer?
    /// Whether the last production ended because the buffer was full, so that there may be more.
    var hasProducedFullBuffer = false
    /// Set while the socket takes no more bytes, until it is writable again.
    var isWriteBlocked = false

    /// Why the connection is to end at the end of this tick; once set, the handler hears only the end.
    var closeReason: HTTP2CloseReason? { didSet { isEnding = closeReason != nil } }
    /// Whether there is a `closeReason`, for the many callers that need no more.
    private(set) var isEnding = false
    /// The peer's violation of the protocol, once nghttp2 has reported it to the peer.
    var violation: String?
    var hasSentOwnGoAway = false
    /// Own GOAWAYs that nghttp2 has not serialised yet; any other GOAWAY that it sends is about a violation.
    var queuedGoAways = 0
    var hasReceivedGoAway = false
    var hasReceivedSettings = false
    var streamCount = 0
    var unsentStream: Int32 = 0

    /// How much the peer may still send; nil for any amount.
    var allowance: InputAllowance?

    /// Runs at the end of a tick; stored, so that scheduling it allocates nothing.
    lazy var endOfTickWork: () -> Void = { [unowned self] in runEndOfTick() }
    /// Keeps the connection alive until the end of the tick that it has asked for.
    var selfUntilEndOfTick: HTTP2Connection?

    /// The highest identifier of a request that was written to the socket, or 0; requests above it never left.
    public internal(set) var lastWrittenStreamID: Int32 = 0

    /// Prepares a connection to a server; must be called on the loop.
    ///
    /// - Parameters:
    ///   - context: made with the application protocol `h2`.
    ///   - serverName: the DNS name or address that the server's certificate must be made out to.
    ///   - descriptor: a non-blocking socket, connected or connecting; the connection owns it, even if this throws.
    ///   - loop: the loop of the connection.
    ///   - configuration: the limits.
    ///   - handler: hears the events; held until `http2Closed`.
    /// - Throws: `HTTP2Error` with `tlsFailed` if the server name cannot be used.
    public init(
        client context: TLSContext, serverName: String, socket descriptor: Int32, loop: EventLoop,
        configuration: Configuration = Configuration(), handler: any HTTP2Handler
    ) throws(HTTP2Error) {
        loop.preconditionOnLoop()
        do throws(CryptoError) {
            tls = try TLSSession(client: context, socket: descriptor, serverName: serverName)
        } catch {
            Glibc.close(descriptor)
            throw HTTP2Error(.tlsFailed, error.message)
        }
        isClient = true
        self.loop = loop
        self.configuration = configuration
        allowance = configuration.inputAllowance
        self.handler = handler
        socket = descriptor
        output = OutputBuffer(loop.buffers)
    }

    /// Prepares a connection from a client; must be called on the loop.
    ///
    /// - Parameters:
    ///   - context: made with the application protocol `h2`.
    ///   - descriptor: an accepted non-blocking socket; the connection owns it, even if this throws.
    ///   - loop: the loop of the connection.
    ///   - configuration: the limits.
    ///   - handler: hears the events; held until `http2Closed`.
    /// - Throws: `HTTP2Error` with `tlsFailed` if there is no memory left.
    public init(
        server context: TLSContext, socket descriptor: Int32, loop: EventLoop,
        configuration: Configuration = Configuration(), handler: any HTTP2Handler
    ) throws(HTTP2Error) {
        loop.preconditionOnLoop()
        do throws(CryptoError) {
            tls = try TLSSession(server: context, socket: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw HTTP2Error(.tlsFailed, error.message)
        }
        isClient = false
        self.loop = loop
        self.configuration = configuration
        allowance = configuration.inputAllowance
        self.handler = handler
        socket = descriptor
        output = OutputBuffer(loop.buffers)
    }

    deinit {
        if let session { nghttp2_session_del(session) }
        if state != .closed {
            // Never started, or the loop stopped under it.
            tls = nil
            Glibc.close(socket)
        }
    }

    /// Begins the handshake; from here on the handler hears events.
    public func start() {
        loop.preconditionOnLoop()
        guard state == .created, closeReason == nil else { return }
        state = isClient ? .connecting : .handshaking
        // A connecting socket becomes writable when it has connected, or has failed to.
        interest = isClient ? .writable : .readable
        do throws(EventLoopError) {
            // The registration keeps the connection alive until `tearDown` gives it up.
            registration = try loop.register(socket, for: interest) { [self] events in socketReady(events) }
        } catch {
            return end(.transport("cannot watch the socket: \(error)"))
        }
        let delay = UInt64(max(0, min(configuration.handshakeTimeoutSeconds, 86_400)) * 1_000_000_000)
        // A weak reference would give the object a side table, and every later retain and release would take the slow
        // path through it. `tearDown` cancels the timer, so a strong reference is safe.
        readinessTimer = loop.schedule(afterNanoseconds: delay) { [self] in readinessTimedOut() }
    }

    private func readinessTimedOut() {
        readinessTimer = nil
        let phase =
            switch state {
            case .created, .connecting: "the TCP connection was not made"
            case .handshaking: "the TLS handshake was not complete"
            case .running, .closed: "the peer sent no HTTP/2 SETTINGS"
            }
        end(.transport("\(phase) within \(configuration.handshakeTimeoutSeconds) seconds"))
    }
}

extension HTTP2Connection {
    /// The limits of one connection.
    public struct Configuration: Sendable, Hashable {
        /// Bytes of one body that the peer may send before we have read them (`SETTINGS_INITIAL_WINDOW_SIZE`).
        public var initialStreamWindowBytes: UInt32 = 1 << 20
        /// Bytes of all bodies together that the peer may send before we have read them.
        public var connectionWindowBytes: UInt32 = 16 << 20
        /// Whether windows are opened again as bytes arrive; if not, the owner opens that of the connection by
        /// `openConnectionWindow`, as a slow or broken server would.
        public var opensWindows = true
        /// Streams that the peer may have open at a time (`SETTINGS_MAX_CONCURRENT_STREAMS`).
        public var maxConcurrentStreams: UInt32 = 1_000
        /// Size of the table with which the peer compresses header fields (`SETTINGS_HEADER_TABLE_SIZE`), in bytes.
        public var headerTableBytes: UInt32 = 4_096
        /// The longest header list that the peer should send (`SETTINGS_MAX_HEADER_LIST_SIZE`), in bytes.
        public var maxHeaderListBytes: UInt32 = 64 << 10
        /// The most open requests, whatever the peer allows; bounds the queue of one user.
        public var openStreamsMaximum = 65_536
        /// Time from `start` until the peer's first SETTINGS must have arrived, in seconds.
        public var handshakeTimeoutSeconds = 10.0
        /// How much the peer may send, whatever it is; nil for any amount.
        public var inputAllowance: InputAllowance?

        /// The defaults, which suit many small requests.
        public init() {}
    }
}

// A connection without streams holds no buffers, so that many idle ones cost little.
extension HTTP2Connection {
    /// How long after its last use memory may be kept.
    ///
    /// A connection with a stream now and then gives its memory back once in this time at most, which costs less than
    /// one of its requests.
    private static let keptNanoseconds: UInt64 = 1_000_000_000

    /// Whether no stream is open and nothing waits to be written.
    private var isQuiet: Bool { streamCount == 0 && output.isEmpty && bodies.isEmpty }

    /// At the end of a tick: memory that is not needed at a later moment will be given back then.
    func releaseMemoryLater() {
        guard releaseTimer == nil, state == .running, isQuiet else { return }
        releaseTimer = loop.schedule(afterNanoseconds: Self.keptNanoseconds) { [self] in
            releaseTimer = nil
            // If it is not quiet, the end of a later tick asks again.
            if isQuiet { releaseMemory() }
        }
    }

    private func releaseMemory() {
        bodies = BodyTable()
        memory.releaseKept()
        tls?.releaseBuffers()
    }
}
