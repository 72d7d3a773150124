import CNghttp2
import EventLoop

// The nghttp2 session: its creation and its callbacks.
//
// Each callback gets the connection, unretained, as its user data. The connection owns the session, deletes it before
// its own end, and is the only one to run it; so it is alive in every callback.
//
// A callback never sends: "nghttp2_session_send must not be called from within a callback" (nghttp2's author).
// Submitted frames are written at the end of the tick.
extension HTTP2Connection {
    /// The marks in a stream's user data; the slot of a body is added to the last.
    enum StreamMark {
        static let open = 1
        static let answered = 2
        static let firstBody = 3
    }

    private typealias UserData = UnsafeMutableRawPointer

    func makeSession() throws(HTTP2Error) {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else {
            throw HTTP2Error(.libraryFailed, "nghttp2 has no memory")
        }
        defer { nghttp2_session_callbacks_del(callbacks) }
        setCallbacks(callbacks)
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0, let options else {
            throw HTTP2Error(.libraryFailed, "nghttp2 has no memory")
        }
        defer { nghttp2_option_del(options) }
        // Closed streams are kept only for the priorities of RFC 7540, which are obsolete.
        nghttp2_option_set_no_closed_streams(options, 1)
        if !configuration.opensWindows { nghttp2_option_set_no_auto_window_update(options, 1) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        var functions = memory.functions
        let code =
            isClient
            ? nghttp2_session_client_new3(&session, callbacks, context, options, &functions)
            : nghttp2_session_server_new3(&session, callbacks, context, options, &functions)
        guard code == 0 else { throw HTTP2Error(.libraryFailed, String(cString: nghttp2_strerror(code))) }
        try submitFirstSettings()
    }

    private func submitFirstSettings() throws(HTTP2Error) {
        var entries = [
            Self.setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, configuration.initialStreamWindowBytes),
            Self.setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, configuration.headerTableBytes),
            Self.setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, configuration.maxHeaderListBytes),
        ]
        entries.append(
            isClient
                ? Self.setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)
                : Self.setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, configuration.maxConcurrentStreams))
        try check(nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entries, entries.count))
        let window = Int32(clamping: configuration.connectionWindowBytes)
        try check(nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, window))
    }

    static func setting(_ name: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(name.rawValue), value: value)
    }

    func check(_ code: Int32) throws(HTTP2Error) {
        guard code != 0 else { return }
        throw HTTP2Error(.libraryFailed, "nghttp2 refused the call: \(String(cString: nghttp2_strerror(code)))")
    }

    /// Runs `body` with the connection that a callback is about, without counting references: there are a dozen
    /// callbacks to a request.
    private static func with<Result>(
        _ userData: UserData?, otherwise: Result, _ body: (HTTP2Connection) -> Result
    ) -> Result {
        guard let userData else { return otherwise }
        return Unmanaged<HTTP2Connection>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
    }

    private func setCallbacks(_ callbacks: OpaquePointer) {
        setReceivingCallbacks(callbacks)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in connection.frameSent(frame) }
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, userData in
            guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in
                connection.unsentStream = frame.pointee.hd.stream_id
                return 0
            }
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, _, header, _, source, userData in
            guard let header, let source else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in
                connection.sendData(header, slot: source.pointee.fd)
            }
        }
    }

    private func setReceivingCallbacks(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in connection.headersBegan(frame) }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, userData in
            guard let frame else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in
                guard !connection.isEnding else { return 0 }
                connection.handler?.http2HeaderReceived(
                    connection, stream: frame.pointee.hd.stream_id,
                    name: UnsafeBufferPointer(start: name, count: nameCount),
                    value: UnsafeBufferPointer(start: value, count: valueCount))
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, userData in
            HTTP2Connection.with(userData, otherwise: 0) { connection in
                guard !connection.isEnding else { return 0 }
                connection.handler?.http2DataReceived(
                    connection, stream: stream, bytes: UnsafeRawBufferPointer(start: bytes, count: count))
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            return HTTP2Connection.with(userData, otherwise: 0) { connection in connection.frameReceived(frame) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, errorCode, userData in
            HTTP2Connection.with(userData, otherwise: 0) { connection in
                connection.streamClosed(stream, errorCode: errorCode)
            }
        }
    }

    // MARK: Receiving

    // Each of these answers 0, by which nghttp2 goes on.

    private func headersBegan(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        guard !isClient, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        let mark = UserData(bitPattern: StreamMark.open)
        guard nghttp2_session_set_stream_user_data(session, frame.pointee.hd.stream_id, mark) == 0 else { return 0 }
        streamCount += 1
        return 0
    }

    private func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue:
            if !isEnding { handler?.http2HeadersEnded(self, stream: header.stream_id) }
            reportEnd(header)
        case NGHTTP2_DATA.rawValue: reportEnd(header)
        case NGHTTP2_SETTINGS.rawValue: settingsReceived(header)
        case NGHTTP2_GOAWAY.rawValue: goAwayReceived(frame.pointee.goaway)
        case NGHTTP2_WINDOW_UPDATE.rawValue where header.stream_id == 0:
            if !isEnding { handler?.http2WindowOpened(self) }
        case NGHTTP2_PING.rawValue where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
            let opaque = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { $0.loadUnaligned(as: UInt64.self) }
            if !isEnding { handler?.http2PingAcknowledged(self, opaque: UInt64(bigEndian: opaque)) }
        default: break
        }
        return 0
    }

    private func reportEnd(_ header: nghttp2_frame_hd) {
        guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, !isEnding else { return }
        handler?.http2StreamEnded(self, stream: header.stream_id)
    }

    private func settingsReceived(_ header: nghttp2_frame_hd) {
        guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
        if !hasReceivedSettings {
            hasReceivedSettings = true
            if let readinessTimer { loop.cancel(readinessTimer) }
            readinessTimer = nil
            if !isEnding { handler?.http2Ready(self) }
        }
        if !isEnding { handler?.http2SettingsReceived(self) }
    }

    private func goAwayReceived(_ frame: nghttp2_goaway) {
        hasReceivedGoAway = true
        guard !isEnding else { return }
        let debugData = Array(UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len))
        handler?.http2GoAwayReceived(
            self, lastStreamID: frame.last_stream_id, errorCode: frame.error_code, debugData: debugData)
    }

    private func streamClosed(_ stream: Int32, errorCode: UInt32) -> Int32 {
        let mark = Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream))
        guard mark >= StreamMark.open else { return 0 }
        streamCount -= 1
        allowance?.streamEnded()
        if mark >= StreamMark.firstBody { bodies.remove(Int32(mark - StreamMark.firstBody)) }
        guard !isEnding else { return 0 }
        // nghttp2 reports a request that it could not even write as an internal error.
        let isUnsent = isClient && stream == unsentStream && stream > lastWrittenStreamID
        handler?.http2StreamClosed(
            self, stream: stream, errorCode: isUnsent ? NGHTTP2_REFUSED_STREAM.rawValue : errorCode)
        return 0
    }

    // MARK: Sending

    private func frameSent(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = frame.pointee.hd
        if header.type == UInt8(NGHTTP2_HEADERS.rawValue) {
            if isClient { lastWrittenStreamID = max(lastWrittenStreamID, header.stream_id) }
        } else if header.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
            goAwaySent(frame.pointee.goaway)
        }
        return 0
    }

    private func goAwaySent(_ frame: nghttp2_goaway) {
        guard queuedGoAways == 0 else {
            queuedGoAways -= 1
            return
        }
        guard frame.error_code != NGHTTP2_NO_ERROR.rawValue, violation == nil else { return }
        // nghttp2's own words, which hold nothing that the peer sent.
        let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        let name = String(cString: nghttp2_http2_strerror(frame.error_code))
        violation = debugData.isEmpty ? name : "\(name) (\(String(decoding: debugData, as: UTF8.self)))"
    }

    /// The source of a body whose bytes go straight from the slot into the output.
    static func provider(slot: Int32) -> nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.source.fd = slot
        provider.read_callback = { _, _, _, lengthMaximum, flags, source, userData in
            let failure = Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            guard let flags, let source else { return failure }
            return HTTP2Connection.with(userData, otherwise: failure) { connection in
                let unsent = connection.bodies.unsentCount(source.pointee.fd)
                let count = min(unsent, lengthMaximum)
                flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
                if count == unsent, !connection.bodies.isEndless(source.pointee.fd) {
                    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                }
                return count
            }
        }
        return provider
    }

    /// Appends a DATA frame; nghttp2 asks again later if the buffer is full.
    private func sendData(_ header: UnsafePointer<UInt8>, slot: Int32) -> Int32 {
        guard !output.isFull else { return NGHTTP2_ERR_WOULDBLOCK.rawValue }
        // The frame header (RFC 9113 section 4.1) begins with the length in three bytes.
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        output.append(header, count: 9)
        bodies.send(slot, count: length) { output.append($0, count: length) }
        return 0
    }
}
