import CRabbitMQ
import EventLoop
import Glibc
public import Messages

/// One connection to a broker with one channel, which is used by one thread at a time and blocks it, for bounded time.
///
/// A session is where every connection begins: connecting, logging in and asking for things are plain calls that wait
/// for the broker's answer. A tool needs no more; a worker hands its session to an `AMQPConnection`, after which frames
/// are only ever taken as they come.
///
/// librabbitmq must not wait for an answer while deliveries flow, because it queues the frames in between and loses
/// some of them. So consumers are started last.
public final class AMQPSession {
    /// The one channel; a second would expose the frames of the first to librabbitmq's loss of queued frames.
    static let channel: amqp_channel_t = 1
    private static let goodbyeSeconds: Int32 = 3
    private static let frameBytesMaximum: Int32 = 131_072
    /// The same for frames from the broker, where its own headers have to find room, too.
    private static let longFrameBytesMaximum: Int32 = 262_144
    /// The bytes of a header frame beside texts and headers: frame, class, weight, body size, flags, numbers.
    private static let headerFrameOverheadBytes = 8 + 2 + 2 + 8 + 2 + 10

    /// Where the broker is.
    public let endpoint: AMQPEndpoint
    let options: AMQPOptions
    let stallGuard: SendWatchdog

    /// The frame size that the login agreed on, for both directions.
    private var agreedFrameBytes = frameBytesMaximum
    private var handle: amqp_connection_state_t?
    /// Memory for the arguments of one call.
    private let pool = UnsafeMutablePointer<amqp_pool_t>.allocate(capacity: 1)
    private var assembler = FrameAssembler()
    private var isBroken = false
    private var lastPublishNumber: UInt64 = 0
    /// How many frames have been read, to tell an answer from silence.
    private(set) var framesRead: UInt64 = 0

    /// Connects, logs in and opens the channel.
    ///
    /// - Parameters:
    ///   - endpoint: where the broker is. With TLS the host must be a DNS name: librabbitmq 0.11 does not compare
    ///     addresses with a certificate.
    ///   - options: how long to wait for what.
    /// - Throws: `AMQPError`: `unreachable`, `tlsFailed`, `refused`, `missing` (the virtual host), `timedOut`.
    public init(_ endpoint: AMQPEndpoint, options: AMQPOptions) throws(AMQPError) {
        self.endpoint = endpoint
        self.options = options
        stallGuard = SendWatchdog(limitSeconds: options.stallLimitSeconds)
        handle = amqp_new_connection()
        init_amqp_pool(pool, 65_536)
        try connect()
        try logIn()
        try checked("opening a channel") { amqp_channel_open($0, Self.channel) != nil }
        if options.takesLongHeaders { try limitFrames(toBytes: Self.longFrameBytesMaximum) }
    }

    /// Sends no longer frames from now on than were agreed upon.
    func limitFramesAsAgreed() throws(AMQPError) {
        if options.takesLongHeaders { try limitFrames(toBytes: agreedFrameBytes) }
    }

    /// Limits frames on this side alone; librabbitmq has one number for both directions.
    ///
    /// RabbitMQ never splits headers, however long its own make them; librabbitmq would take that for a broken
    /// protocol. No frame may be half read: librabbitmq ends the process then.
    private func limitFrames(toBytes bytes: Int32) throws(AMQPError) {
        let handle = try usableHandle()
        let status = amqp_tune_connection(
            handle, amqp_get_channel_max(handle), bytes, amqp_get_heartbeat(handle))
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "preparing the session") }
    }

    deinit {
        destroy()
        empty_amqp_pool(pool)
        pool.deallocate()
    }

    /// Says goodbye to the broker if it still listens, and closes the socket.
    ///
    /// Everything that was sent before, acknowledgements included, has been taken by the broker when this returns.
    public func close() {
        if let handle, !isBroken {
            hasten()
            stallGuard.arm()
            _ = amqp_connection_close(handle, Int32(AMQP_REPLY_SUCCESS))
            stallGuard.disarm()
        }
        destroy()
    }

    /// Waits but briefly for answers from now on.
    func hasten() {
        guard let handle else { return }
        crabbitmq_set_timeouts(handle, Self.goodbyeSeconds, Self.goodbyeSeconds)
    }

    /// Closes the socket without a farewell; the broker requeues unacknowledged deliveries.
    public func abandon() { destroy() }

    private func destroy() {
        guard let handle else { return }
        stallGuard.close()
        amqp_destroy_connection(handle)
        self.handle = nil
    }

    // MARK: Connecting

    private func connect() throws(AMQPError) {
        guard let handle else { throw AMQPError(.closed, "out of memory") }
        guard let socket = endpoint.usesTLS ? amqp_ssl_socket_new(handle) : amqp_tcp_socket_new(handle) else {
            throw AMQPError(.closed, "out of memory")
        }
        if endpoint.usesTLS { try prepareTLS(socket) }
        let status = crabbitmq_connect(
            socket, endpoint.host, Int32(endpoint.port), Int32(options.connectTimeoutSeconds))
        guard status == AMQP_STATUS_OK.rawValue else { throw connectFailure(status) }
        let fileDescriptor = amqp_get_sockfd(handle)
        crabbitmq_bound_silence(fileDescriptor, UInt32(max(1, options.silenceLimitSeconds)) * 1_000)
        do { try stallGuard.open(fileDescriptor: fileDescriptor) } catch {
            throw AMQPError(.closed, "no watch over the connection: \(error)")
        }
        crabbitmq_set_timeouts(handle, Int32(options.connectTimeoutSeconds), Int32(options.callTimeoutSeconds))
    }

    private func prepareTLS(_ socket: OpaquePointer) throws(AMQPError) {
        guard !endpoint.isAddress else {
            throw AMQPError(
                .invalid,
                "\(endpoint) names the broker by its IP address; with amqps:// use the DNS name in its certificate")
        }
        guard crabbitmq_harden_tls(socket) == 1 else {
            throw AMQPError(.tlsFailed, "OpenSSL cannot be set up for TLS 1.2 with the system's trust anchors")
        }
        guard options.caFile.isEmpty || amqp_ssl_socket_set_cacert(socket, options.caFile) == 0 else {
            throw AMQPError(.tlsFailed, "\(options.caFile) cannot be read or holds no certificate in PEM form")
        }
    }

    private func connectFailure(_ status: Int32) -> AMQPError {
        let text = String(cString: amqp_error_string2(status))
        if endpoint.usesTLS, let problem = crabbitmq_certificate_error_text() {
            let anchors = options.caFile.isEmpty ? "this machine trusts" : "this machine or \(options.caFile) trusts"
            return AMQPError(
                .tlsFailed,
                "the certificate of \(endpoint) is refused: \(String(cString: problem)); it has to be valid and "
                    + "signed by an authority that \(anchors)")
        }
        switch status {
        case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED.rawValue:
            return AMQPError(.tlsFailed, "the certificate of \(endpoint) is not for the name \(endpoint.host)")
        case AMQP_STATUS_SSL_CONNECTION_FAILED.rawValue, AMQP_STATUS_SSL_ERROR.rawValue:
            return AMQPError(
                .tlsFailed, "no TLS handshake with \(endpoint): does that port speak TLS 1.2 or later? (\(text))")
        case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED.rawValue:
            return AMQPError(.unreachable, "the name \(endpoint.host) of the broker cannot be resolved")
        case AMQP_STATUS_TIMEOUT.rawValue:
            return AMQPError(.unreachable, "\(endpoint) did not answer within \(options.connectTimeoutSeconds) s")
        default: return AMQPError(.unreachable, "\(endpoint) cannot be reached: is the broker running? (\(text))")
        }
    }

    private func logIn() throws(AMQPError) {
        var writer = makeWriter()
        let names = ["consumer_cancel_notify", "connection.blocked", "basic.nack", "publisher_confirms"]
        var properties = try writer.table([
            MessageHeader("connection_name", .string(options.connectionName)),
            MessageHeader("product", .string("apus")),
            MessageHeader("capabilities", .table(names.map { MessageHeader($0, .boolean(true)) })),
        ])
        stallGuard.arm()
        defer { stallGuard.disarm() }
        let reply = crabbitmq_login(
            handle, endpoint.virtualHost, Self.frameBytesMaximum, Int32(options.heartbeatSeconds), &properties,
            endpoint.user, endpoint.password)
        guard reply.reply_type != AMQP_RESPONSE_NORMAL else {
            agreedFrameBytes = amqp_get_frame_max(handle)
            return
        }
        isBroken = true
        throw failure(reply, "the login at \(endpoint)")
    }

    /// The product and version that the broker named at the login.
    public private(set) lazy var server: AMQPServer = {
        let properties = handle.flatMap { amqp_get_server_properties($0) }
        return AMQPServer(properties: properties.map { TableReader.read($0.pointee).headers } ?? [])
    }()

    /// Whether the connection has ended, by either side or by a failure.
    public var isClosed: Bool { handle == nil || isBroken }

    // MARK: Calls

    /// The connection's handle, for a call that sends; broken connections throw.
    func usableHandle() throws(AMQPError) -> amqp_connection_state_t {
        guard let handle, !isBroken else { throw AMQPError(.closed, "the connection to \(endpoint) has ended") }
        return handle
    }

    /// Makes a request and waits for the answer.
    ///
    /// After a channel error the channel is opened again, so a session survives a refused request.
    func checked(
        _ what: @autoclosure () -> String, _ request: (amqp_connection_state_t) -> Bool
    ) throws(AMQPError) {
        let handle = try usableHandle()
        amqp_maybe_release_buffers(handle)
        stallGuard.arm()
        defer { stallGuard.disarm() }
        guard !request(handle) else { return }
        throw failure(amqp_get_rpc_reply(handle), what())
    }

    /// Begins to lay out the texts and tables of a request.
    func makeWriter() -> TableWriter {
        recycle_amqp_pool(pool)
        return TableWriter(pool: pool)
    }

    /// Turns an answer into an error, and answers the broker where it expects that.
    func failure(_ reply: amqp_rpc_reply_t, _ what: String) -> AMQPError {
        switch reply.reply_type {
        case AMQP_RESPONSE_SERVER_EXCEPTION: return exception(reply.reply, what)
        case AMQP_RESPONSE_LIBRARY_EXCEPTION: return failure(status: reply.library_error, what)
        default:
            isBroken = true
            return AMQPError(.closed, "\(what): the broker closed the connection")
        }
    }

    /// Turns a negative status of librabbitmq into an error, after which the connection is of no more use.
    func failure(status: Int32, _ what: String) -> AMQPError {
        isBroken = true
        let text = String(cString: amqp_error_string2(status))
        guard !stallGuard.hasFired else {
            return AMQPError(.timedOut, "\(what): \(endpoint) took no bytes for \(options.stallLimitSeconds) s")
        }
        switch status {
        case AMQP_STATUS_TIMEOUT.rawValue, AMQP_STATUS_HEARTBEAT_TIMEOUT.rawValue:
            return AMQPError(.timedOut, "\(what): \(endpoint) does not answer (\(text))")
        case AMQP_STATUS_CONNECTION_CLOSED.rawValue, AMQP_STATUS_SOCKET_ERROR.rawValue,
            AMQP_STATUS_SOCKET_CLOSED.rawValue, AMQP_STATUS_TCP_ERROR.rawValue, AMQP_STATUS_SSL_ERROR.rawValue:
            return AMQPError(.closed, "\(what): the connection to \(endpoint) was lost (\(text))")
        default: return AMQPError(.protocolViolation, "\(what): \(endpoint) broke the protocol (\(text))")
        }
    }

    /// Answers `channel.close` or `connection.close` and returns its reason as an error.
    func exception(_ method: amqp_method_t, _ what: String) -> AMQPError {
        guard let decoded = method.decoded else {
            return AMQPError(.closed, "\(what): the broker closed the connection")
        }
        if Int(method.id) == CRABBITMQ_CHANNEL_CLOSE {
            let close = decoded.load(as: amqp_channel_close_t.self)
            let isPublish = close.class_id == 60 && close.method_id == 40
            let error = Self.error(
                code: close.reply_code, text: TableReader.string(close.reply_text), what, isPublish: isPublish)
            reopenChannel()
            return error
        }
        isBroken = true
        guard Int(method.id) == CRABBITMQ_CONNECTION_CLOSE else {
            return AMQPError(.protocolViolation, "\(what): the broker answered with method \(method.id)")
        }
        let close = decoded.load(as: amqp_connection_close_t.self)
        let error = Self.error(
            code: close.reply_code, text: TableReader.string(close.reply_text), what, isPublish: false)
        if let handle {
            var answer = amqp_connection_close_ok_t()
            stallGuard.arm()
            amqp_send_method(handle, 0, amqp_method_number_t(CRABBITMQ_CONNECTION_CLOSE_OK), &answer)
            stallGuard.disarm()
        }
        return error
    }

    private func reopenChannel() {
        guard let handle else { return }
        var answer = amqp_channel_close_ok_t()
        let answerMethod = amqp_method_number_t(CRABBITMQ_CHANNEL_CLOSE_OK)
        stallGuard.arm()
        defer { stallGuard.disarm() }
        assembler = FrameAssembler()
        lastPublishNumber = 0
        let isOpen =
            amqp_send_method(handle, Self.channel, answerMethod, &answer) == AMQP_STATUS_OK.rawValue
            && amqp_channel_open(handle, Self.channel) != nil
        if !isOpen { isBroken = true }
    }

    private static func error(code: UInt16, text: String, _ what: String, isPublish: Bool) -> AMQPError {
        let kind: AMQPError.Code =
            switch Int32(code) {
            case AMQP_ACCESS_REFUSED: .refused
            case AMQP_NOT_FOUND: .missing
            // 530 is what RabbitMQ says of a virtual host, whether it is missing or not ours.
            case AMQP_NOT_ALLOWED: text.contains("not found") ? .missing : .refused
            // Before 4.3 the channel ends when a consumer holds a delivery for too long, and only the text says so.
            case AMQP_PRECONDITION_FAILED where text.contains("delivery acknowledgement on channel"): .consumerEnded
            case AMQP_PRECONDITION_FAILED: .different
            case AMQP_RESOURCE_LOCKED: .locked
            case AMQP_CONNECTION_FORCED: .closed
            default: .protocolViolation
            }
        return AMQPError(kind, "\(what): \(text)", isCausedByPublish: isPublish)
    }

    // MARK: Sending

    /// Publishes a message; returns as soon as it is handed to the kernel.
    ///
    /// - Parameters:
    ///   - message: the message; its `cluster-id` will be the number of the publish.
    ///   - exchange: up to 255 bytes; empty for the default exchange.
    ///   - routingKey: up to 255 bytes.
    ///   - isMandatory: whether it shall come back if no queue takes it.
    /// - Returns: the number under which the broker will confirm it, if confirms are on.
    /// - Throws: `AMQPError`: `invalid` if AMQP cannot express the message (nothing was sent, the session is as
    ///   before), or
    ///   the connection's end.
    @discardableResult
    public func publish(
        _ message: borrowing Message, exchange: String, routingKey: String, isMandatory: Bool
    ) throws(AMQPError) -> UInt64 {
        let handle = try usableHandle()
        var writer = makeWriter()
        let number = lastPublishNumber + 1
        let exchangeBytes = try writer.shortString(exchange, "name of the exchange")
        let routingKeyBytes = try writer.shortString(routingKey, "routing key")
        var headerWriter = TableWriter(pool: pool)
        var properties = try headerWriter.properties(message, number: number)
        let limit = Int(amqp_get_frame_max(handle)) - Self.headerFrameOverheadBytes
        guard headerWriter.encodedBytes <= limit else {
            throw AMQPError(
                .invalid,
                "the properties and headers take \(headerWriter.encodedBytes) bytes; a frame holds \(limit)")
        }
        let status = message.body.withUnsafeBytes { body in
            amqp_basic_publish(
                handle, Self.channel, exchangeBytes, routingKeyBytes, isMandatory ? 1 : 0, 0, &properties,
                amqp_bytes_t(len: body.count, bytes: UnsafeMutableRawPointer(mutating: body.baseAddress)))
        }
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "publishing") }
        lastPublishNumber = number
        return number
    }

    /// Acknowledges a delivery, or all deliveries up to and including it.
    public func acknowledge(_ number: UInt64, isMultiple: Bool) throws(AMQPError) {
        let status = amqp_basic_ack(try usableHandle(), Self.channel, number, isMultiple ? 1 : 0)
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "acknowledging") }
    }

    /// Rejects a delivery: its queue dead-letters it, or drops it if the queue has no dead-letter exchange.
    public func reject(_ number: UInt64) throws(AMQPError) {
        let status = amqp_basic_reject(try usableHandle(), Self.channel, number, 0)
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "rejecting") }
    }

    /// Gives a delivery back to its queue, which delivers it again.
    public func giveBack(_ number: UInt64) throws(AMQPError) {
        let status = amqp_basic_reject(try usableHandle(), Self.channel, number, 1)
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "giving back") }
    }

    /// Asks the broker to start a consumer that acknowledges, without waiting; a queue that is not there closes the
    /// channel.
    ///
    /// - Parameters:
    ///   - queue: the queue to consume.
    ///   - tag: how its deliveries are marked.
    ///   - prefetch: how many unacknowledged deliveries it may have; nil for what was set last.
    /// - Throws: `AMQPError` if the connection has ended.
    public func startConsumer(of queue: String, tag: String, prefetch: UInt16? = nil) throws(AMQPError) {
        let handle = try usableHandle()
        if let prefetch {
            var limit = amqp_basic_qos_t(prefetch_size: 0, prefetch_count: prefetch, global: 0)
            let status = amqp_send_method(
                handle, Self.channel, amqp_method_number_t(CRABBITMQ_BASIC_QOS), &limit)
            guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "setting the prefetch") }
        }
        var writer = makeWriter()
        var method = amqp_basic_consume_t()
        method.queue = try writer.shortString(queue, "name of the queue")
        method.consumer_tag = try writer.shortString(tag, "consumer tag")
        method.arguments = amqp_empty_table
        let status = amqp_send_method(
            handle, Self.channel, amqp_method_number_t(CRABBITMQ_BASIC_CONSUME), &method)
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "starting a consumer") }
    }

    /// Asks the broker to end a consumer, without waiting: `AMQPEvent.consumerCancelled` is the answer.
    public func cancelConsumer(tag: String) throws(AMQPError) {
        let handle = try usableHandle()
        var writer = makeWriter()
        var method = amqp_basic_cancel_t(consumer_tag: try writer.shortString(tag, "consumer tag"), nowait: 0)
        let status = amqp_send_method(
            handle, Self.channel, amqp_method_number_t(CRABBITMQ_BASIC_CANCEL), &method)
        guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "cancelling a consumer") }
    }

    // MARK: Receiving

    var fileDescriptor: Int32 { handle.map { amqp_get_sockfd($0) } ?? -1 }

    /// Whether bytes that were read wait inside librabbitmq, where no readiness of the socket tells of them.
    var hasUnreadFrames: Bool {
        guard let handle, !isBroken else { return false }
        return amqp_frames_enqueued(handle) != 0 || amqp_data_in_buffer(handle) != 0
    }

    /// Reads the frames that are there, and waits for the first if there is none and a timeout is given.
    ///
    /// - Returns: whether there may be more, because the maximum was reached.
    /// - Throws: `AMQPError` when the connection or the channel has ended; the batch holds the earlier frames.
    func readFrames(
        into batch: inout AMQPBatch, framesMaximum: Int, timeoutMilliseconds: Int32 = 0
    ) throws(AMQPError) -> Bool {
        let handle = try usableHandle()
        var frame = amqp_frame_t()
        var timeoutMilliseconds = timeoutMilliseconds
        for _ in 0..<framesMaximum {
            amqp_maybe_release_buffers_on_channel(handle, Self.channel)
            let status = crabbitmq_wait_frame(handle, &frame, timeoutMilliseconds)
            if status == AMQP_STATUS_TIMEOUT.rawValue { return false }
            guard status == AMQP_STATUS_OK.rawValue else { throw failure(status: status, "receiving") }
            timeoutMilliseconds = 0
            framesRead &+= 1
            if frame.channel == 0 {
                try takeControl(frame, &batch)
                amqp_maybe_release_buffers_on_channel(handle, 0)
            } else if Int32(frame.frame_type) == AMQP_FRAME_METHOD {
                try takeMethod(frame.payload.method, &batch)
            } else {
                try assembler.add(frame, to: &batch)
            }
        }
        return true
    }

    /// Takes a frame of channel 0, which concerns the whole connection.
    private func takeControl(_ frame: amqp_frame_t, _ batch: inout AMQPBatch) throws(AMQPError) {
        guard Int32(frame.frame_type) == AMQP_FRAME_METHOD else { return }
        let method = frame.payload.method
        switch Int(method.id) {
        case CRABBITMQ_CONNECTION_BLOCKED:
            let reason = method.decoded.map { TableReader.string($0.load(as: amqp_connection_blocked_t.self).reason) }
            batch.events.append(.blocked(reason: reason ?? ""))
        case CRABBITMQ_CONNECTION_UNBLOCKED: batch.events.append(.unblocked)
        case CRABBITMQ_CONNECTION_CLOSE: throw exception(method, "the broker closed the connection")
        default: break
        }
    }

    /// The answer of `basic.get`, whose content follows.
    func beginContent(_ method: amqp_basic_get_ok_t) { assembler.begin(method) }

    private func takeMethod(_ method: amqp_method_t, _ batch: inout AMQPBatch) throws(AMQPError) {
        guard assembler.isIdle, let decoded = method.decoded else {
            isBroken = true
            throw AMQPError(.protocolViolation, "the broker sent method \(method.id) amid the content of another")
        }
        switch Int(method.id) {
        case CRABBITMQ_BASIC_DELIVER: assembler.begin(decoded.load(as: amqp_basic_deliver_t.self))
        case CRABBITMQ_BASIC_GET_OK: assembler.begin(decoded.load(as: amqp_basic_get_ok_t.self))
        case CRABBITMQ_BASIC_RETURN: assembler.begin(decoded.load(as: amqp_basic_return_t.self))
        case CRABBITMQ_BASIC_ACK:
            let ack = decoded.load(as: amqp_basic_ack_t.self)
            batch.events.append(
                .confirmed(number: ack.delivery_tag, isMultiple: ack.multiple != 0, isAccepted: true))
        case CRABBITMQ_BASIC_NACK:
            let nack = decoded.load(as: amqp_basic_nack_t.self)
            batch.events.append(
                .confirmed(number: nack.delivery_tag, isMultiple: nack.multiple != 0, isAccepted: false))
        case CRABBITMQ_BASIC_CANCEL:
            let tag = TableReader.string(decoded.load(as: amqp_basic_cancel_t.self).consumer_tag)
            batch.events.append(.consumerEnded(tag: tag))
        case CRABBITMQ_BASIC_CANCEL_OK:
            let tag = TableReader.string(decoded.load(as: amqp_basic_cancel_ok_t.self).consumer_tag)
            batch.events.append(.consumerCancelled(tag: tag))
        case CRABBITMQ_CHANNEL_CLOSE: throw exception(method, "the broker closed the channel")
        default: break
        }
    }
}
