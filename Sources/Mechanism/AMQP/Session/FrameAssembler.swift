import CRabbitMQ
import Messages

/// Reassembles the frames of one channel: a method with content comes as a method frame, a header frame and the body
/// frames.
///
/// This is what `amqp_consume_message` does, without its faults: that one blocks between the frames, and loses frames
/// of
/// channel 0 that come in between.
struct FrameAssembler {
    private enum Method {
        case deliver
        case get
        case returned(code: UInt16, text: String)
    }

    private enum State {
        case idle
        case awaitingHeader
        case awaitingBody(remainingBytes: Int)
    }

    /// The most bytes that are reserved at once for an announced body; more are reserved only when bytes have arrived.
    private static let reservedBytesMaximum = 16 << 20
    /// The longest body that RabbitMQ can be configured to pass (512 MiB), plus nothing: longer is not its protocol.
    private static let bodyBytesMaximum: UInt64 = 512 << 20

    private var state = State.idle
    private var method = Method.deliver
    private static let empty = Message(body: [])
    private var delivery = AMQPDelivery(
        consumerTag: "", number: 0, isRedelivered: false, exchange: "", routingKey: "", message: empty,
        hasUnreadableHeaders: false)
    // The parts of the message, whose copies share their contents: it is made when all of them are there.
    private var properties = MessageProperties()
    private var headers: [MessageHeader] = []
    private var body: [UInt8] = []
    /// The number of the publish that comes back.
    private var publishNumber: UInt64?
    private var exchanges = StringCache()
    private var routingKeys = StringCache()
    private var contentTypes = StringCache()
    private var types = StringCache()
    private var applications = StringCache()

    /// Whether the next frame of the channel must be a method.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    // MARK: Methods that bring content

    mutating func begin(_ method: amqp_basic_deliver_t) {
        begin(.deliver, exchange: method.exchange, routingKey: method.routing_key)
        delivery.consumerTag = TableReader.string(method.consumer_tag)
        delivery.number = method.delivery_tag
        delivery.isRedelivered = method.redelivered != 0
    }

    mutating func begin(_ method: amqp_basic_get_ok_t) {
        begin(.get, exchange: method.exchange, routingKey: method.routing_key)
        delivery.consumerTag = ""
        delivery.number = method.delivery_tag
        delivery.isRedelivered = method.redelivered != 0
    }

    mutating func begin(_ method: amqp_basic_return_t) {
        begin(
            .returned(code: method.reply_code, text: TableReader.string(method.reply_text)), exchange: method.exchange,
            routingKey: method.routing_key)
    }

    private mutating func begin(_ method: Method, exchange: amqp_bytes_t, routingKey: amqp_bytes_t) {
        self.method = method
        delivery.exchange = exchanges.string(exchange)
        delivery.routingKey = routingKeys.string(routingKey)
        state = .awaitingHeader
    }

    // MARK: Content

    /// Takes a header or body frame, and adds the completed message to the batch.
    mutating func add(_ frame: amqp_frame_t, to batch: inout AMQPBatch) throws(AMQPError) {
        switch (state, Int32(frame.frame_type)) {
        case (.awaitingHeader, AMQP_FRAME_HEADER): try addHeader(frame.payload.properties.decoded, frame: frame)
        case (.awaitingBody(let remaining), AMQP_FRAME_BODY):
            let fragment = TableReader.buffer(frame.payload.body_fragment)
            guard fragment.count <= remaining else { throw Self.unexpected("a body longer than announced") }
            if fragment.count == remaining, body.isEmpty {
                body = Array(fragment)
            } else {
                body.append(contentsOf: fragment)
            }
            state = .awaitingBody(remainingBytes: remaining - fragment.count)
        default: throw Self.unexpected("a frame of type \(frame.frame_type) out of order")
        }
        if case .awaitingBody(remainingBytes: 0) = state { finish(&batch) }
    }

    private mutating func addHeader(_ decoded: UnsafeMutableRawPointer?, frame: amqp_frame_t) throws(AMQPError) {
        let size = frame.payload.properties.body_size
        guard size <= Self.bodyBytesMaximum, let decoded else { throw Self.unexpected("a body of \(size) bytes") }
        readProperties(decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee)
        body = []
        let frameBytesMaximum = 131_072
        if size > frameBytesMaximum { body.reserveCapacity(min(Int(size), Self.reservedBytesMaximum)) }
        state = .awaitingBody(remainingBytes: Int(size))
    }

    private mutating func finish(_ batch: inout AMQPBatch) {
        state = .idle
        switch method {
        case .deliver, .get:
            delivery.message = Message(properties: properties, headers: headers, body: body)
            batch.deliveries.append(delivery)
        case .returned(let code, let text):
            batch.events.append(.returned(AMQPReturn(code: code, text: text, number: publishNumber)))
        }
        // The message now belongs to the batch alone.
        body = []
        delivery.message = Self.empty
    }

    private mutating func readProperties(_ read: amqp_basic_properties_t) {
        func has(_ flag: Int32) -> Bool { read._flags & amqp_flags_t(bitPattern: flag) != 0 }
        func text(_ flag: Int32, _ bytes: amqp_bytes_t) -> String? { has(flag) ? TableReader.string(bytes) : nil }
        properties = MessageProperties()
        if has(AMQP_BASIC_CONTENT_TYPE_FLAG) { properties.contentType = contentTypes.string(read.content_type) }
        properties.contentEncoding = text(AMQP_BASIC_CONTENT_ENCODING_FLAG, read.content_encoding)
        properties.deliveryMode = has(AMQP_BASIC_DELIVERY_MODE_FLAG) ? read.delivery_mode : nil
        properties.priority = has(AMQP_BASIC_PRIORITY_FLAG) ? read.priority : nil
        properties.correlationID = text(AMQP_BASIC_CORRELATION_ID_FLAG, read.correlation_id)
        properties.replyTo = text(AMQP_BASIC_REPLY_TO_FLAG, read.reply_to)
        properties.expiration = text(AMQP_BASIC_EXPIRATION_FLAG, read.expiration)
        properties.messageID = text(AMQP_BASIC_MESSAGE_ID_FLAG, read.message_id)
        properties.timestampSeconds = has(AMQP_BASIC_TIMESTAMP_FLAG) ? read.timestamp : nil
        if has(AMQP_BASIC_TYPE_FLAG) { properties.type = types.string(read.type) }
        properties.userID = text(AMQP_BASIC_USER_ID_FLAG, read.user_id)
        if has(AMQP_BASIC_APP_ID_FLAG) { properties.appID = applications.string(read.app_id) }
        publishNumber = text(AMQP_BASIC_CLUSTER_ID_FLAG, read.cluster_id).flatMap { UInt64($0) }
        let isWhole: Bool
        (headers, isWhole) = has(AMQP_BASIC_HEADERS_FLAG) ? TableReader.read(read.headers) : ([], true)
        delivery.hasUnreadableHeaders = !isWhole
    }

    private static func unexpected(_ what: String) -> AMQPError {
        AMQPError(.protocolViolation, "the broker sent \(what)")
    }
}
