import CCurl
public import EventLoop

/// Sends many POSTs over HTTP/1.1 at once, over connections that are kept and used again, with libcurl.
///
/// For push services that do not speak HTTP/2, and for collectors of traces. All of it lives on one loop; requests and
/// outcomes are values. Each request has one outcome, which says whether it may have been processed: libcurl's own
/// repetition of a request on another connection is ruled out as soon as a byte of the body is on its way. Redirects
/// are not followed, and neither the environment's proxies nor another scheme than the destination's are used.
///
/// A client that has sent something has to be closed on its loop before the loop ends.
public final class HTTPMultiClient {
    /// The bounds of a client.
    public struct Limits: Sendable {
        /// How many connections to one host there may be; further requests wait.
        public var connectionsPerHostMaximum = 32
        /// How many connections there may be in all.
        public var connectionsMaximum = 256
        /// How long the name, TCP and TLS may take together, for one address, in milliseconds.
        public var connectTimeoutMilliseconds: UInt32 = 5_000
        /// How long a connection may have been idle when it is used again, in seconds.
        ///
        /// Load balancers close idle connections after a minute; a request that crosses such an end is ambiguous.
        public var connectionAgeSecondsMaximum = 50

        /// Creates the usual bounds.
        public init() {}
    }

    private let loop: EventLoop
    private let limits: Limits
    private let keptNames: Set<String>
    /// libcurl's handle; nil once the client is closed.
    private var multi: UnsafeMutableRawPointer?
    private var transfers: [UnsafeMutableRawPointer: PostTransfer] = [:]
    private var registrations: [Int32: EventLoop.Registration] = [:]
    private var timer: EventLoop.Timer?

    /// Prepares a client; any thread may do so, and from then on it lives on the loop.
    ///
    /// - Parameters:
    ///   - loop: where it lives, and where outcomes are reported.
    ///   - limits: the bounds.
    ///   - keptFields: the names of the header fields of answers that are kept beside `retry-after` and `date`.
    /// - Throws: `HTTPClient.Failure` if libcurl cannot be set up.
    public init(
        loop: EventLoop, limits: Limits = Limits(), keptFields: [String] = []
    ) throws(HTTPClient.Failure) {
        guard HTTPClient.isSetUp, let multi = curl_multi_init() else {
            throw HTTPClient.Failure(description: "libcurl cannot be set up")
        }
        self.loop = loop
        self.limits = limits
        self.multi = multi
        keptNames = Set(keptFields.map { $0.lowercased() } + ["retry-after", "date"])
        _ = ccurl_set_multi(
            multi, { _, socket, what, client, _ in HTTPMultiClient.of(client)?.watch(socket, what) ?? -1 },
            { _, milliseconds, client in HTTPMultiClient.of(client)?.setTimer(milliseconds: milliseconds) ?? -1 },
            Unmanaged.passUnretained(self).toOpaque(), limits.connectionsPerHostMaximum, limits.connectionsMaximum)
    }

    deinit {
        guard let multi else { return }
        precondition(transfers.isEmpty, "an HTTP client with requests under way was not closed")
        // libcurl must not call back into a client that ends.
        _ = ccurl_set_multi(multi, nil, nil, nil, 0, 0)
        curl_multi_cleanup(multi)
    }

    /// How many requests have no outcome yet.
    public var requestCount: Int { transfers.count }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - ended: gets the outcome, once, on the loop and never before this method returns.
    public func post(_ request: PostRequest, ended: @escaping (PostOutcome) -> Void) {
        send(request, isProbe: false, ended: ended)
    }

    private func send(_ request: PostRequest, isProbe: Bool, ended: @escaping (PostOutcome) -> Void) {
        loop.preconditionOnLoop()
        if let problem = request.problem { return refuse(PostFailure(.requestInvalid, problem), ended) }
        guard multi != nil else { return refuse(PostFailure(.closed, "the client is closed"), ended) }
        let transfer = PostTransfer(request, isProbe: isProbe, keptNames: keptNames, ended: ended)
        guard begin(transfer) else { return refuse(PostFailure(.requestInvalid, "libcurl does not take it"), ended) }
        transfer.timer = loop.schedule(afterNanoseconds: request.timeoutNanoseconds) { [weak self, weak transfer] in
            guard let transfer else { return }
            self?.timedOut(transfer, afterNanoseconds: request.timeoutNanoseconds)
        }
    }

    /// Makes a connection and closes it, without a request: to see whether a destination can be reached.
    ///
    /// - Parameters:
    ///   - destination: where to connect to.
    ///   - timeoutNanoseconds: how long it may take.
    ///   - ended: gets nil if there was TLS with a trusted server; called as that of `post`.
    public func probe(
        _ destination: PostDestination, timeoutNanoseconds: UInt64 = 10_000_000_000,
        ended: @escaping (PostFailure?) -> Void
    ) {
        // Nothing of it is sent.
        let request = PostRequest(
            to: destination, path: "/", fields: [], body: [0], timeoutNanoseconds: timeoutNanoseconds)
        send(request, isProbe: true) { outcome in
            switch outcome {
            case .answered: ended(nil)
            case .notSent(let failure), .ambiguous(let failure): ended(failure)
            }
        }
    }

    /// Ends all requests and connections; a second call does nothing.
    public func close() {
        loop.preconditionOnLoop()
        guard let multi else { return }
        let open = Array(transfers.values)
        for transfer in open { remove(transfer) }
        self.multi = nil
        curl_multi_cleanup(multi)
        for registration in registrations.values { loop.deregister(registration) }
        registrations = [:]
        if let timer { loop.cancel(timer) }
        timer = nil
        for transfer in open { end(transfer, transfer.outcome(PostFailure(.closed, "the client was closed"))) }
    }

    private func refuse(_ failure: PostFailure, _ ended: @escaping (PostOutcome) -> Void) {
        loop.atEndOfTick { ended(.notSent(failure)) }
    }

    private func begin(_ transfer: PostTransfer) -> Bool {
        guard let multi, let handle = transfer.prepare(limits) else { return false }
        transfers[handle] = transfer
        guard curl_multi_add_handle(multi, handle) == CURLM_OK else {
            transfers[handle] = nil
            return false
        }
        return true
    }

    private func timedOut(_ transfer: PostTransfer, afterNanoseconds nanoseconds: UInt64) {
        transfer.timer = nil
        let seconds = Double(nanoseconds) / 1_000_000_000
        end(transfer, transfer.outcome(PostFailure(.timedOut, "no answer within \(seconds) seconds")))
    }

    private func end(_ transfer: PostTransfer, _ outcome: PostOutcome) {
        remove(transfer)
        if let timer = transfer.timer { loop.cancel(timer) }
        transfer.timer = nil
        transfer.ended(outcome)
    }

    private func remove(_ transfer: PostTransfer) {
        guard let handle = transfer.handle else { return }
        transfers[handle] = nil
        if let multi { curl_multi_remove_handle(multi, handle) }
        transfer.release()
    }

    // MARK: The loop's news for libcurl

    private func act(on socket: Int32, _ events: Int32) {
        guard let multi else { return }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, events, &running)
        var ended: [(PostTransfer, CURLcode)] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = transfers[handle]
            else { continue }
            ended.append((transfer, message.pointee.data.result))
        }
        for (transfer, code) in ended { self.ended(transfer, code) }
    }

    private func ended(_ transfer: PostTransfer, _ code: CURLcode) {
        // The report of an earlier transfer may have closed the client.
        guard transfer.handle != nil else { return }
        end(transfer, transfer.outcome(code))
    }

    // MARK: Callbacks of libcurl

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPMultiClient? {
        context.map { Unmanaged<HTTPMultiClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func watch(_ socket: Int32, _ what: Int32) -> Int32 {
        let events: ReadyEvents
        switch what {
        case CURL_POLL_IN: events = .readable
        case CURL_POLL_OUT: events = .writable
        case CURL_POLL_INOUT: events = [.readable, .writable]
        default:
            if let registration = registrations.removeValue(forKey: socket) { loop.deregister(registration) }
            return 0
        }
        if let registration = registrations[socket] {
            loop.modify(registration, for: events)
            return 0
        }
        do throws(EventLoopError) {
            registrations[socket] = try loop.register(socket, for: events) { [weak self] ready in
                self?.act(on: socket, Self.events(ready))
            }
            return 0
        } catch {
            return -1
        }
    }

    private static func events(_ ready: ReadyEvents) -> Int32 {
        var events: Int32 = 0
        if !ready.isDisjoint(with: [.readable, .peerClosed, .hangUp]) { events |= CURL_CSELECT_IN }
        if ready.contains(.writable) { events |= CURL_CSELECT_OUT }
        if ready.contains(.error) { events |= CURL_CSELECT_ERR }
        return events
    }

    private func setTimer(milliseconds: Int) -> Int32 {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard milliseconds >= 0 else { return 0 }
        // Also 0 waits for the next tick: libcurl must not be called while it calls.
        timer = loop.schedule(afterNanoseconds: UInt64(milliseconds) * 1_000_000) { [weak self] in
            self?.timer = nil
            self?.act(on: CURL_SOCKET_BAD, 0)
        }
        return 0
    }
}
