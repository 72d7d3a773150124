import CRabbitMQ

extension TableWriter {
    /// The properties and headers of a message, with the number of its publish in `cluster-id`.
    mutating func properties(
        _ message: borrowing AMQPMessage, number: UInt64
    ) throws(AMQPError) -> amqp_basic_properties_t {
        var written = amqp_basic_properties_t()
        var flags: Int32 = AMQP_BASIC_CLUSTER_ID_FLAG
        let read = message.properties
        if let text = read.contentType {
            written.content_type = try shortString(text, "content type")
            flags |= AMQP_BASIC_CONTENT_TYPE_FLAG
        }
        if let text = read.contentEncoding {
            written.content_encoding = try shortString(text, "content encoding")
            flags |= AMQP_BASIC_CONTENT_ENCODING_FLAG
        }
        if !message.headers.isEmpty {
            written.headers = try table(message.headers)
            flags |= AMQP_BASIC_HEADERS_FLAG
        }
        if let text = read.correlationID {
            written.correlation_id = try shortString(text, "correlation id")
            flags |= AMQP_BASIC_CORRELATION_ID_FLAG
        }
        if let text = read.replyTo {
            written.reply_to = try shortString(text, "reply-to")
            flags |= AMQP_BASIC_REPLY_TO_FLAG
        }
        if let text = read.expiration {
            written.expiration = try shortString(text, "expiration")
            flags |= AMQP_BASIC_EXPIRATION_FLAG
        }
        if let text = read.messageID {
            written.message_id = try shortString(text, "message id")
            flags |= AMQP_BASIC_MESSAGE_ID_FLAG
        }
        if let text = read.type {
            written.type = try shortString(text, "type")
            flags |= AMQP_BASIC_TYPE_FLAG
        }
        if let text = read.userID {
            written.user_id = try shortString(text, "user id")
            flags |= AMQP_BASIC_USER_ID_FLAG
        }
        if let text = read.appID {
            written.app_id = try shortString(text, "application id")
            flags |= AMQP_BASIC_APP_ID_FLAG
        }
        written.cluster_id = try shortString(String(number), "cluster id")
        setNumbers(&written, &flags, read)
        written._flags = amqp_flags_t(bitPattern: flags)
        return written
    }

    private func setNumbers(
        _ written: inout amqp_basic_properties_t, _ flags: inout Int32, _ read: AMQPProperties
    ) {
        if let value = read.deliveryMode {
            written.delivery_mode = value
            flags |= AMQP_BASIC_DELIVERY_MODE_FLAG
        }
        if let value = read.priority {
            written.priority = value
            flags |= AMQP_BASIC_PRIORITY_FLAG
        }
        if let value = read.timestampSeconds {
            written.timestamp = value
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
        }
    }
}
