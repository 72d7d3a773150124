import Messages

/// Questions about the rights of this session's user, which change nothing.
///
/// AMQP has no question for them. RabbitMQ checks the right before the arguments of a request, so a request with an
/// argument of the wrong type is refused with 403 if the right is missing, and with another error if it is there. This
/// was tried with 3.10.8, 4.0.5 and 4.3.6.
extension AMQPSession {
    /// A text that is no priority, no number of milliseconds, and no routing key in use.
    private static let probe = "permission probe"

    /// Whether the user may declare and delete a queue, which need not exist.
    public func mayConfigureQueue(_ name: String) throws(AMQPError) -> Bool {
        try isPermitted { () throws(AMQPError) in
            try declareQueue(name, arguments: [MessageHeader("x-dead-letter-exchange", .int64(0))])
        }
    }

    /// Whether the user may declare and delete an exchange, which need not exist.
    public func mayConfigureExchange(_ name: String) throws(AMQPError) -> Bool {
        try isPermitted { () throws(AMQPError) in
            try declareExchange(name, type: "topic", arguments: [MessageHeader("alternate-exchange", .int64(0))])
        }
    }

    /// Whether the user may consume a queue, which need not exist.
    public func mayRead(queue: String) throws(AMQPError) -> Bool {
        try isPermitted { () throws(AMQPError) in
            try consume(
                queue, tag: "permission", arguments: [MessageHeader("x-priority", .string(Self.probe))])
        }
    }

    /// Whether the user may publish to an exchange, which need not exist; the empty name is the default exchange.
    public func mayWrite(exchange: String) throws(AMQPError) -> Bool {
        var message = Message(body: [])
        message.properties.expiration = Self.probe
        return try isPermitted { () throws(AMQPError) in
            try publish(message, exchange: exchange, routingKey: "", isMandatory: false)
            // A publish has no answer. RabbitMQ answers the next request with why it has closed the channel.
            try setPrefetch(1)
        }
    }

    /// Whether the user may bind a queue to an exchange: write the queue, and read the exchange.
    ///
    /// It removes a binding that does not exist, which asks for the same rights.
    public func mayBind(queue: String, to exchange: String) throws(AMQPError) -> Bool {
        try isPermitted { () throws(AMQPError) in
            try unbindQueue(queue, exchange: exchange, routingKey: Self.probe)
        }
    }

    private func isPermitted(_ request: () throws(AMQPError) -> Void) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            try request()
            return true
        } catch {
            guard !isClosed else { throw error }
            return error.code != .refused
        }
    }
}
