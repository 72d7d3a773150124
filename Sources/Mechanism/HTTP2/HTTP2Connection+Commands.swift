import CNghttp2
import EventLoop

// The commands of the connection's owner. Commands are queued, and written at the end of the tick.
extension HTTP2Connection {
    // MARK: Requests and responses

    /// Queues a request whose body is shared, not copied.
    ///
    /// - Parameters:
    ///   - headers: `:method`, `:scheme`, `:authority`, `:path`, then the others.
    ///   - body: held until it is sent; empty ends the stream with the header fields.
    /// - Returns: the identifier of the new stream; identifiers rise.
    /// - Throws: `HTTP2Error` that says why no request can be sent on this connection now.
    public func submitRequest(_ headers: borrowing HeaderBlock, body: [UInt8]) throws(HTTP2Error) -> Int32 {
        try requireRequestsAllowed()
        return try submitRequest(headers, slot: body.isEmpty ? nil : bodies.insert(body))
    }

    /// Queues a request with a copy of a body.
    ///
    /// - Parameters:
    ///   - headers: `:method`, `:scheme`, `:authority`, `:path`, then the others.
    ///   - body: copied into memory that is used again for later bodies; empty ends the stream with the header fields.
    /// - Returns: the identifier of the new stream; identifiers rise.
    /// - Throws: `HTTP2Error` that says why no request can be sent on this connection now.
    public func submitRequest(
        _ headers: borrowing HeaderBlock, body: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> Int32 {
        try requireRequestsAllowed()
        return try submitRequest(headers, slot: body.isEmpty ? nil : bodies.insert(copying: body))
    }

    private func requireRequestsAllowed() throws(HTTP2Error) {
        loop.preconditionOnLoop()
        let session = try requireSession()
        guard isClient else { throw HTTP2Error(.libraryFailed, "a server sends no requests") }
        guard streamCount < configuration.openStreamsMaximum else {
            throw HTTP2Error(.streamsTooMany, "\(streamCount) requests are open or queued already")
        }
        guard nghttp2_session_check_request_allowed(session) != 0 else {
            let isGoingAway = hasReceivedGoAway || hasSentOwnGoAway
            throw isGoingAway
                ? HTTP2Error(.goingAway, "the connection takes no new requests (GOAWAY)")
                : HTTP2Error(.streamsExhausted, "the connection has no stream identifiers left")
        }
    }

    private func submitRequest(_ headers: borrowing HeaderBlock, slot: Int32?) throws(HTTP2Error) -> Int32 {
        let mark = UnsafeMutableRawPointer(bitPattern: slot.map { StreamMark.firstBody + Int($0) } ?? StreamMark.open)
        let stream: Int32
        if let slot {
            var provider = Self.provider(slot: slot)
            stream = nghttp2_submit_request(session, nil, headers.fields, headers.count, &provider, mark)
        } else {
            stream = nghttp2_submit_request(session, nil, headers.fields, headers.count, nil, mark)
        }
        guard stream > 0 else {
            if let slot { bodies.remove(slot) }
            throw HTTP2Error(
                .libraryFailed, "nghttp2 refused the request: \(String(cString: nghttp2_strerror(stream)))")
        }
        streamCount += 1
        scheduleEndOfTick()
        return stream
    }

    /// Queues the response to a request.
    ///
    /// - Parameters:
    ///   - stream: the stream of the request.
    ///   - headers: `:status`, then the others.
    ///   - body: held until it is sent; empty ends the stream with the header fields, as APNs does.
    /// - Throws: `HTTP2Error` with `streamUnknown` if the stream has ended or has its response already.
    public func submitResponse(
        stream: Int32, _ headers: borrowing HeaderBlock, body: [UInt8]
    ) throws(HTTP2Error) {
        try submitResponse(stream: stream, headers, slot: body.isEmpty ? nil : { $0.insert(body) })
    }

    /// Queues a response whose body never ends, as no honest server would.
    ///
    /// - Parameters:
    ///   - stream: the stream of the request.
    ///   - headers: `:status`, then the others.
    ///   - bytes: the content of the body, repeated without end; not empty.
    /// - Throws: `HTTP2Error` as for a response that ends.
    public func submitEndlessResponse(
        stream: Int32, _ headers: borrowing HeaderBlock, repeating bytes: [UInt8]
    ) throws(HTTP2Error) {
        try submitResponse(stream: stream, headers, slot: { $0.insert(repeating: bytes) })
    }

    /// Queues an informational response, which announces the final one.
    ///
    /// - Parameters:
    ///   - stream: the stream of the request.
    ///   - headers: `:status`, 100 to 199, then the others.
    /// - Throws: `HTTP2Error` with `streamUnknown` if the stream has ended or has its final response already.
    public func submitInformation(stream: Int32, _ headers: borrowing HeaderBlock) throws(HTTP2Error) {
        loop.preconditionOnLoop()
        let session = try requireSession()
        guard !isClient, Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream)) == StreamMark.open
        else { throw HTTP2Error(.streamUnknown, "stream \(stream) has ended or has its response already") }
        let code = nghttp2_submit_headers(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, headers.fields, headers.count, nil)
        try check(code)
        scheduleEndOfTick()
    }

    private func submitResponse(
        stream: Int32, _ headers: borrowing HeaderBlock, slot insert: ((inout BodyTable) -> Int32)?
    ) throws(HTTP2Error) {
        loop.preconditionOnLoop()
        let session = try requireSession()
        let mark = Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream))
        guard !isClient, mark == StreamMark.open else {
            throw HTTP2Error(.streamUnknown, "stream \(stream) has ended or has its response already")
        }
        let code: Int32
        if let insert {
            let slot = insert(&bodies)
            setMark(StreamMark.firstBody + Int(slot), of: stream)
            var provider = Self.provider(slot: slot)
            code = nghttp2_submit_response(session, stream, headers.fields, headers.count, &provider)
        } else {
            setMark(StreamMark.answered, of: stream)
            code = nghttp2_submit_response(session, stream, headers.fields, headers.count, nil)
        }
        try check(code)
        scheduleEndOfTick()
    }

    private func setMark(_ mark: Int, of stream: Int32) {
        nghttp2_session_set_stream_user_data(session, stream, UnsafeMutableRawPointer(bitPattern: mark))
    }

    /// Ends a stream at once in both directions (RST_STREAM); a stream that has ended already is left alone.
    ///
    /// - Parameters:
    ///   - stream: the stream to end.
    ///   - errorCode: the reason for the peer, from RFC 9113 section 7; 8 is CANCEL.
    public func resetStream(_ stream: Int32, errorCode: UInt32) {
        loop.preconditionOnLoop()
        guard let session, closeReason == nil else { return }
        // A request that is still queued is unknown to nghttp2 as a stream, but can be cancelled like one.
        let isQueued =
            isClient && stream > lastWrittenStreamID
            && Int64(stream) < Int64(nghttp2_session_get_next_stream_id(session))
        guard isQueued || nghttp2_session_get_stream_user_data(session, stream) != nil else { return }
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, errorCode)
        scheduleEndOfTick()
    }

    // MARK: The connection

    /// Changes the settings for the peer; omitted ones stay.
    ///
    /// - Parameters:
    ///   - maxConcurrentStreams: streams that the peer may have open at a time.
    ///   - initialWindowBytes: bytes of one body that the peer may send before they are read, at most 2^31 - 1.
    ///   - headerTableBytes: size of the table with which the peer compresses header fields.
    public func submitSettings(
        maxConcurrentStreams: UInt32? = nil, initialWindowBytes: UInt32? = nil, headerTableBytes: UInt32? = nil
    ) {
        loop.preconditionOnLoop()
        guard let session, closeReason == nil else { return }
        var entries: [nghttp2_settings_entry] = []
        if let value = maxConcurrentStreams {
            entries.append(Self.setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, value))
        }
        if let value = initialWindowBytes {
            entries.append(Self.setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, min(value, UInt32(Int32.max))))
        }
        if let value = headerTableBytes { entries.append(Self.setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, value)) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entries, entries.count)
        scheduleEndOfTick()
    }

    /// Lets the peer send more bytes of bodies on the connection (WINDOW_UPDATE); only if the configuration says that
    /// windows are not opened by themselves.
    ///
    /// - Parameter bytes: how many more, at least 1.
    public func openConnectionWindow(bytes: Int32) {
        loop.preconditionOnLoop()
        guard let session, closeReason == nil, !configuration.opensWindows else { return }
        nghttp2_submit_window_update(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes)
        scheduleEndOfTick()
    }

    /// Announces that no new streams are taken; the connection ends when the last open stream has ended.
    ///
    /// - Parameters:
    ///   - lastStreamID: the highest stream of the peer that is or will be processed; those above are dropped as not
    ///     processed. Nothing means the highest that was received.
    ///   - errorCode: the reason, from RFC 9113 section 7; 0 is NO_ERROR.
    ///   - debugData: more about the reason; APNs sends JSON.
    public func goAway(lastStreamID: Int32? = nil, errorCode: UInt32 = 0, debugData: [UInt8] = []) {
        loop.preconditionOnLoop()
        guard let session, closeReason == nil else { return }
        hasSentOwnGoAway = true
        queuedGoAways += 1
        let last = lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, errorCode, debugData, debugData.count)
        scheduleEndOfTick()
    }

    /// Asks the peer for a sign of life, which `http2PingAcknowledged` reports.
    public func ping(_ opaque: UInt64) {
        loop.preconditionOnLoop()
        guard let session, closeReason == nil else { return }
        withUnsafeBytes(of: opaque.bigEndian) { bytes in
            _ = nghttp2_submit_ping(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        scheduleEndOfTick()
    }

    /// Says goodbye (GOAWAY), writes what the socket takes, and ends the connection at the end of this tick.
    ///
    /// From here on the handler gets `http2Closed` and nothing else.
    public func close() {
        loop.preconditionOnLoop()
        guard closeReason == nil, state != .closed else { return }
        if !hasSentOwnGoAway { goAway() }
        end(.local)
    }

    // MARK: State

    /// Streams that the peer lets us have open at a time; 2^32 - 1 if it has not said, 0 before its first SETTINGS.
    public var peerMaxConcurrentStreams: UInt32 {
        guard let session, hasReceivedSettings else { return 0 }
        return nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    }

    /// Bytes of bodies that may be sent on the whole connection until the peer opens its window again.
    public var peerConnectionWindowBytes: Int {
        guard let session else { return 0 }
        return Int(nghttp2_session_get_remote_window_size(session))
    }

    /// Bytes of bodies that may still be submitted and then sent at once, as far as the connection's window goes.
    ///
    /// Negative while bodies wait for the window that were submitted beyond it.
    public var submittableBodyBytes: Int { peerConnectionWindowBytes - bodies.unsentBytes }

    /// Bytes of body that may be sent on a new stream until the peer opens its window.
    public var peerInitialStreamWindowBytes: Int {
        guard let session else { return 0 }
        return Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
    }

    /// Streams that are open, or submitted and not yet written.
    public var openStreamCount: Int { streamCount }

    /// Whether a request submitted now would be written at the end of the tick.
    public var canSubmit: Bool {
        guard isClient, let session, closeReason == nil, hasReceivedSettings else { return false }
        return streamCount < configuration.openStreamsMaximum && streamCount < Int(peerMaxConcurrentStreams)
            && nghttp2_session_check_request_allowed(session) != 0
    }

    private func requireSession() throws(HTTP2Error) -> OpaquePointer {
        guard closeReason == nil, state != .closed else { throw HTTP2Error(.closed, "the connection is closed") }
        guard let session else { throw HTTP2Error(.notReady, "the handshake is not complete") }
        return session
    }
}
