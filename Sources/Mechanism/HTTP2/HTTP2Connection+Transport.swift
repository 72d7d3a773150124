import CNghttp2
import Crypto
import EventLoop
import Glibc

// The socket and TLS: connecting, the handshake, reading and writing.
extension HTTP2Connection {
    /// Reads in one tick at most, so that one busy connection does not starve the others on the loop.
    private static let readsPerTickMaximum = 64

    func socketReady(_ events: ReadyEvents) {
        guard closeReason == nil else { return }
        switch state {
        case .created, .closed: return
        case .connecting: connected()
        case .handshaking: continueHandshake()
        case .running:
            if events.contains(.writable) { isWriteBlocked = false }
            // Errors and hang-ups are read like bytes: the read says what they are. TLS may also have waited for room
            // to write before it can read on.
            readAvailable()
            scheduleEndOfTick()
        }
    }

    private func connected() {
        let code = TCPSocket.pendingError(socket)
        guard code == 0 else { return end(.transport("cannot connect: \(String(cString: strerror(code)))")) }
        state = .handshaking
        continueHandshake()
    }

    private func continueHandshake() {
        guard let tls else { return }
        do throws(CryptoError) {
            switch try tls.handshake() {
            case .wantsRead: setInterest(.readable)
            case .wantsWrite: setInterest(.writable)
            case .done: handshakeDone(tls)
            }
        } catch {
            end(.tls(error))
        }
    }

    private func handshakeDone(_ tls: TLSSession) {
        guard tls.applicationProtocol == "h2" else { return end(.noHTTP2) }
        state = .running
        setInterest(.readable)
        do throws(HTTP2Error) {
            try makeSession()
        } catch {
            return end(.transport(error.message))
        }
        scheduleEndOfTick()
        // The peer's first bytes may have come with the last of the handshake, and then no readiness announces them.
        readAvailable()
    }

    /// Feeds nghttp2 with the bytes of the socket and of TLS.
    func readAvailable() {
        guard let tls, let session else { return }
        let input = loop.buffers.take()
        defer { loop.buffers.giveBack(input) }
        for _ in 0..<Self.readsPerTickMaximum {
            do throws(CryptoError) {
                switch try tls.read(into: input) {
                case .bytes(let count): feed(input.prefix(count), to: session)
                case .wantsRead: return
                case .wantsWrite:
                    isWriteBlocked = true
                    return setInterest([.readable, .writable])
                case .closed: return end(.peerClosed)
                }
            } catch {
                return end(.transport(error.message))
            }
            guard closeReason == nil, tls.hasPendingInput else { return }
        }
        // The socket does not announce bytes again that wait inside TLS.
        loop.atEndOfTick { [self] in
            guard closeReason == nil, state == .running else { return }
            scheduleEndOfTick()
            readAvailable()
        }
    }

    private func feed(_ input: Slice<UnsafeMutableRawBufferPointer>, to session: OpaquePointer) {
        if allowance?.takes(input.count, nowNanoseconds: loop.nowNanoseconds) == false {
            return end(.protocolViolation("it sends more than answers need"))
        }
        let bytes = input.base.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let taken = nghttp2_session_mem_recv(session, bytes, input.count)
        guard taken < 0 else { return }
        let text = String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: taken)))
        end(.protocolViolation(text))
    }

    func setInterest(_ events: ReadyEvents) {
        guard interest != events, let registration else { return }
        interest = events
        loop.modify(registration, for: events)
    }

    // MARK: The end of the tick

    func scheduleEndOfTick() {
        guard selfUntilEndOfTick == nil, state != .closed else { return }
        selfUntilEndOfTick = self
        loop.atEndOfTick(endOfTickWork)
    }

    func runEndOfTick() {
        selfUntilEndOfTick = nil
        guard state != .closed else { return }
        if state == .running, canStillWrite { writeOutput() }
        if closeReason == nil, let session, isFinished(session) { closeReason = reasonWhenFinished() }
        if let closeReason { tearDown(closeReason) } else { releaseMemoryLater() }
    }

    /// A connection that this side closes announces that first; a lost one cannot.
    private var canStillWrite: Bool {
        switch closeReason {
        case nil, .local: !isWriteBlocked
        case .peerClosed, .transport, .tls, .noHTTP2, .protocolViolation: false
        }
    }

    private func isFinished(_ session: OpaquePointer) -> Bool {
        output.isEmpty && nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    private func reasonWhenFinished() -> HTTP2CloseReason {
        if let violation { return .protocolViolation(violation) }
        return hasReceivedGoAway ? .peerClosed : .local
    }

    /// Produces and writes alternately until nothing is left or the socket is full.
    private func writeOutput() {
        guard let session else { return }
        repeat {
            guard fillOutput(from: session) else { return }
            guard writeBuffer() else { return }
        } while nghttp2_session_want_write(session) != 0 && hasProducedFullBuffer
        setInterest(.readable)
    }

    /// Collects frames until the buffer is full or nghttp2 has no more.
    private func fillOutput(from session: OpaquePointer) -> Bool {
        hasProducedFullBuffer = false
        while !output.isFull {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count >= 0 else {
                end(.transport("nghttp2: \(String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: count))))"))
                return false
            }
            guard count > 0, let bytes else { break }
            output.append(bytes, count: count)
        }
        hasProducedFullBuffer = output.isFull
        return true
    }

    /// Hands the buffer to TLS; the answer is false when the socket takes no more or is lost.
    private func writeBuffer() -> Bool {
        guard let tls else { return false }
        while !output.isEmpty {
            do throws(CryptoError) {
                switch try tls.write(output.unwritten) {
                case .bytes(let count): output.removeFirst(count)
                case .wantsRead: return false
                case .wantsWrite:
                    isWriteBlocked = true
                    setInterest([.readable, .writable])
                    return false
                case .closed:
                    endAfterReading(.peerClosed)
                    return false
                }
            } catch {
                endAfterReading(.transport(error.message))
                return false
            }
        }
        return true
    }

    /// Ends a connection that takes no more bytes, after reading the peer's last frames.
    ///
    /// A GOAWAY among it names the requests that the peer has not processed, and answers may be there as well.
    private func endAfterReading(_ reason: HTTP2CloseReason) {
        isWriteBlocked = true
        readAvailable()
        end(reason)
    }

    // MARK: The end

    /// Ends the connection at the end of this tick; the first reason counts.
    func end(_ reason: HTTP2CloseReason) {
        guard state != .closed, closeReason == nil else { return }
        closeReason = reason
        scheduleEndOfTick()
    }

    private func tearDown(_ reason: HTTP2CloseReason) {
        state = .closed
        if let registration { loop.deregister(registration) }
        for timer in [readinessTimer, releaseTimer] { if let timer { loop.cancel(timer) } }
        registration = nil
        readinessTimer = nil
        releaseTimer = nil
        tls?.closeNotify()
        tls = nil
        if let session { nghttp2_session_del(session) }
        session = nil
        Glibc.close(socket)
        bodies = BodyTable()
        let handler = handler
        self.handler = nil
        handler?.http2Closed(self, reason: reason)
    }
}
