import CRabbitMQ
public import Messages

extension AMQPSession {
    /// How many messages and consumers a queue has.
    public struct QueueStatus: Hashable, Sendable {
        /// Messages that are ready to be delivered.
        public let messageCount: Int
        /// Consumers.
        public let consumerCount: Int
    }

    /// Declares an exchange, which changes nothing if it is there already and the same.
    ///
    /// - Parameters:
    ///   - name: the exchange; durable, never deleted by itself.
    ///   - type: `topic`, `direct`, `fanout`, `headers`, or one that a plugin of the broker adds.
    ///   - arguments: its arguments.
    ///   - isPassive: only look whether it is there.
    /// - Throws: `AMQPError`: `missing` (passive), `different`, `refused`, or the connection's end.
    public func declareExchange(
        _ name: String, type: String, arguments: [MessageHeader] = [], isPassive: Bool = false
    ) throws(AMQPError) {
        var writer = makeWriter()
        let nameBytes = try writer.shortString(name, "name of the exchange")
        let typeBytes = try writer.shortString(type, "type of the exchange")
        let table = try writer.table(arguments)
        try checked("exchange \(name)") { handle in
            amqp_exchange_declare(
                handle, Self.channel, nameBytes, typeBytes, isPassive ? 1 : 0, 1, 0, 0, table) != nil
        }
    }

    /// Declares a durable queue, which changes nothing if it is there already and the same.
    ///
    /// - Parameters:
    ///   - name: the queue.
    ///   - arguments: its arguments (`x-queue-type` and so on).
    ///   - isPassive: only look whether it is there; then the arguments do not matter.
    /// - Returns: how many messages and consumers it has.
    /// - Throws: `AMQPError`: `missing` (passive), `different`, `refused`, or the connection's end.
    @discardableResult
    public func declareQueue(
        _ name: String, arguments: [MessageHeader] = [], isPassive: Bool = false
    ) throws(AMQPError) -> QueueStatus {
        var writer = makeWriter()
        let nameBytes = try writer.shortString(name, "name of the queue")
        let table = try writer.table(arguments)
        var status = QueueStatus(messageCount: 0, consumerCount: 0)
        try checked("queue \(name)") { handle in
            guard
                let answer = amqp_queue_declare(handle, Self.channel, nameBytes, isPassive ? 1 : 0, 1, 0, 0, table)
            else { return false }
            status = QueueStatus(
                messageCount: Int(answer.pointee.message_count), consumerCount: Int(answer.pointee.consumer_count))
            return true
        }
        return status
    }

    /// Declares a queue of this connection's own, which the broker deletes when the connection ends.
    ///
    /// - Parameters:
    ///   - name: the queue.
    ///   - arguments: its arguments.
    /// - Throws: `AMQPError`: `locked` if another connection has it, `refused`, or the connection's end.
    public func declareTemporaryQueue(_ name: String, arguments: [MessageHeader] = []) throws(AMQPError) {
        var writer = makeWriter()
        let nameBytes = try writer.shortString(name, "name of the queue")
        let table = try writer.table(arguments)
        try checked("queue \(name)") { handle in
            amqp_queue_declare(handle, Self.channel, nameBytes, 0, 0, 1, 1, table) != nil
        }
    }

    /// Binds a queue to an exchange, which changes nothing if it is bound so already.
    public func bindQueue(_ queue: String, exchange: String, routingKey: String) throws(AMQPError) {
        try changeBinding(
            "binding \(queue) to \(exchange)", of: (queue, "name of the queue"), to: exchange, by: routingKey
        ) {
            amqp_queue_bind($0, Self.channel, $1, $2, $3, amqp_empty_table) != nil
        }
    }

    /// Removes the binding of a queue to an exchange, if it exists.
    public func unbindQueue(_ queue: String, exchange: String, routingKey: String) throws(AMQPError) {
        try changeBinding(
            "unbinding \(queue) from \(exchange)", of: (queue, "name of the queue"), to: exchange, by: routingKey
        ) {
            amqp_queue_unbind($0, Self.channel, $1, $2, $3, amqp_empty_table) != nil
        }
    }

    /// Binds an exchange to another, which changes nothing if it is bound so already.
    ///
    /// - Parameters:
    ///   - destination: the exchange that gets the messages.
    ///   - source: the exchange that passes them on.
    ///   - routingKey: which messages.
    /// - Throws: `AMQPError`: `missing`, `refused`, or the connection's end.
    public func bindExchange(_ destination: String, source: String, routingKey: String) throws(AMQPError) {
        try changeBinding(
            "binding \(destination) to \(source)", of: (destination, "name of the exchange"), to: source, by: routingKey
        ) {
            amqp_exchange_bind($0, Self.channel, $1, $2, $3, amqp_empty_table) != nil
        }
    }

    /// Removes the binding of an exchange to another, if it exists.
    public func unbindExchange(_ destination: String, source: String, routingKey: String) throws(AMQPError) {
        try changeBinding(
            "unbinding \(destination) from \(source)", of: (destination, "name of the exchange"), to: source,
            by: routingKey
        ) {
            amqp_exchange_unbind($0, Self.channel, $1, $2, $3, amqp_empty_table) != nil
        }
    }

    /// Adds or removes a binding to the exchange `source`.
    private func changeBinding(
        _ what: @autoclosure () -> String, of destination: (name: String, role: StaticString), to source: String,
        by routingKey: String,
        _ request: (amqp_connection_state_t, amqp_bytes_t, amqp_bytes_t, amqp_bytes_t) -> Bool
    ) throws(AMQPError) {
        var writer = makeWriter()
        let destinationBytes = try writer.shortString(destination.name, destination.role)
        let sourceBytes = try writer.shortString(source, "name of the exchange")
        let routingKeyBytes = try writer.shortString(routingKey, "routing key")
        try checked(what()) { request($0, destinationBytes, sourceBytes, routingKeyBytes) }
    }

    /// Deletes a queue with its messages, if it exists.
    public func deleteQueue(_ name: String) throws(AMQPError) {
        var writer = makeWriter()
        let nameBytes = try writer.shortString(name, "name of the queue")
        try checked("deleting queue \(name)") { amqp_queue_delete($0, Self.channel, nameBytes, 0, 0) != nil }
    }

    /// Deletes an exchange, if it exists.
    public func deleteExchange(_ name: String) throws(AMQPError) {
        var writer = makeWriter()
        let nameBytes = try writer.shortString(name, "name of the exchange")
        try checked("deleting exchange \(name)") { amqp_exchange_delete($0, Self.channel, nameBytes, 0) != nil }
    }

    /// Limits how many unacknowledged deliveries each consumer that is started from now on may have.
    public func setPrefetch(_ count: UInt16) throws(AMQPError) {
        try checked("setting the prefetch") { amqp_basic_qos($0, Self.channel, 0, count, 0) != nil }
    }

    /// Starts a consumer that acknowledges; deliveries may come from now on, so make no other request than this after
    /// it.
    ///
    /// - Parameters:
    ///   - queue: the queue to consume.
    ///   - tag: how its deliveries are marked; up to 15 bytes cost no allocation.
    /// - Throws: `AMQPError`: `missing`, `refused`, or the connection's end.
    public func consume(_ queue: String, tag: String) throws(AMQPError) {
        try consume(queue, tag: tag, arguments: [])
    }

    func consume(_ queue: String, tag: String, arguments: [MessageHeader]) throws(AMQPError) {
        var writer = makeWriter()
        let table = try writer.table(arguments)
        let queueBytes = try writer.shortString(queue, "name of the queue")
        let tagBytes = try writer.shortString(tag, "consumer tag")
        try checked("consuming \(queue)") { handle in
            amqp_basic_consume(handle, Self.channel, queueBytes, tagBytes, 0, 0, 0, table) != nil
        }
    }

    /// Cancels a consumer; its unsettled deliveries stay with this session.
    public func endConsumer(tag: String) throws(AMQPError) {
        var writer = makeWriter()
        let tagBytes = try writer.shortString(tag, "consumer tag")
        try checked("ending a consumer") { amqp_basic_cancel($0, Self.channel, tagBytes) != nil }
    }

    /// Whether the broker's quorum queues heed `x-credit`, so that `synchronize(with:)` takes no message.
    var heedsCredit: Bool {
        guard server.isRabbitMQ, let version = server.version else { return false }
        return version < AMQPServer.Version(4, 0, 0)
    }

    /// Waits until a quorum queue has processed the earlier acknowledgements and rejections.
    ///
    /// `basic.ack` has no answer. RabbitMQ's channel passes acknowledgements on to a quorum queue without waiting. When
    /// more than 32 such commands are under way, the channel holds the next ones back. When it closes, it forgets them,
    /// and settled messages come again. The channel does wait for a new consumer. So this method starts a consumer
    /// without credit, which gets no message, and cancels it. It does so more than once, because the first time makes
    /// the channel pass on the held commands.
    ///
    /// From 4.0 on RabbitMQ ignores the credit and would give the consumer a message: see
    /// `AMQPConnection.settlementNanoseconds`.
    ///
    /// - Parameter queue: a quorum queue of a broker that heeds the credit; this session has no consumer left on it.
    /// - Throws: `AMQPError` if the queue is not there any more, or the connection's end.
    public func synchronize(with queue: String) throws(AMQPError) {
        try setPrefetch(1)
        let noCredit = HeaderValue.table([MessageHeader("credit", .int64(0)), MessageHeader("drain", .boolean(false))])
        for round in 0..<3 {
            let tag = "synchronize-\(round)"
            try consume(queue, tag: tag, arguments: [MessageHeader("x-credit", noCredit)])
            try endConsumer(tag: tag)
        }
        // The answers above come before the deed; this one comes after.
        try declareQueue(queue, isPassive: true)
    }

    /// Makes the broker confirm every publish from now on, numbered from 1.
    public func enableConfirms() throws(AMQPError) {
        try checked("turning confirms on") { amqp_confirm_select($0, Self.channel) != nil }
        try limitFramesAsAgreed()
    }

    /// Takes one message from a queue, unacknowledged: closing the session gives it back.
    ///
    /// - Returns: the message and how many are left behind it, or nil if the queue has none ready.
    /// - Throws: `AMQPError`: `missing`, `refused`, or the connection's end.
    public func get(_ queue: String) throws(AMQPError) -> (delivery: AMQPDelivery, remainingCount: Int)? {
        var writer = makeWriter()
        let queueBytes = try writer.shortString(queue, "name of the queue")
        let handle = try usableHandle()
        amqp_maybe_release_buffers(handle)
        stallGuard.arm()
        defer { stallGuard.disarm() }
        let reply = amqp_basic_get(handle, Self.channel, queueBytes, 0)
        guard reply.reply_type == AMQP_RESPONSE_NORMAL else { throw failure(reply, "taking from queue \(queue)") }
        guard Int(reply.reply.id) == CRABBITMQ_BASIC_GET_OK, let decoded = reply.reply.decoded else { return nil }
        let method = decoded.load(as: amqp_basic_get_ok_t.self)
        beginContent(method)
        let remainingCount = Int(method.message_count)
        var batch = AMQPBatch()
        while batch.deliveries.isEmpty { try readWithinCallTimeout(&batch, "taking from queue \(queue)") }
        return (batch.deliveries[0], remainingCount)
    }

    /// Why the broker does not have a message that was published.
    public struct PublishFailure: Hashable, Sendable {
        /// The problem.
        public let text: String
        /// Whether the message itself is at fault, so that publishing it again changes nothing.
        public let isForGood: Bool
    }

    /// Publishes messages and waits until each is confirmed; `enableConfirms` must have been called.
    ///
    /// The broker closes the channel for a message that breaks one of its rules. It names neither that message nor the
    /// outcome of the later ones. All that are open then are published once more, one by one, so some may come twice.
    ///
    /// - Parameter publishes: the messages and their targets, mandatory.
    /// - Returns: for each, nil if the broker has it, else why it does not.
    /// - Throws: `AMQPError` when the connection ends first; then the outcome is unknown.
    public func publishConfirmed(
        _ publishes: [(message: Message, exchange: String, routingKey: String)]
    ) throws(AMQPError) -> [PublishFailure?] {
        var failures = [PublishFailure?](repeating: nil, count: publishes.count)
        let (suspects, _) = try publish(publishes.indices, of: publishes, &failures)
        for index in suspects {
            let (open, cause) = try publish(index...index, of: publishes, &failures)
            guard !open.isEmpty, let cause else { continue }
            failures[index] = PublishFailure(text: cause.message, isForGood: cause.refusesForGood)
        }
        return failures
    }

    /// Publishes some of the messages and waits until each is confirmed, or the broker closes the channel for one.
    ///
    /// - Returns: the messages whose outcome is unknown, and why; then the channel is a new one.
    private func publish(
        _ indices: some Collection<Int>,
        of publishes: [(message: Message, exchange: String, routingKey: String)],
        _ failures: inout [PublishFailure?]
    ) throws(AMQPError) -> (open: [Int], cause: AMQPError?) {
        var ledger = ConfirmTracker()
        for index in indices {
            let (message, exchange, routingKey) = publishes[index]
            do throws(AMQPError) {
                let number = try publish(message, exchange: exchange, routingKey: routingKey, isMandatory: true)
                ledger.published(number, index: index)
            } catch  where error.code == .invalid {
                failures[index] = PublishFailure(text: error.message, isForGood: error.refusesForGood)
            }
        }
        var batch = AMQPBatch()
        var outcomes: [ConfirmTracker.Outcome] = []
        var cause: AMQPError?
        while !ledger.isEmpty, cause == nil {
            do throws(AMQPError) {
                try readWithinCallTimeout(&batch, "waiting for confirms")
            } catch  where error.isCausedByPublish { cause = error }
            for event in batch.events { ledger.take(event, into: &outcomes) }
            batch.events = []
        }
        for outcome in outcomes {
            failures[outcome.index] = outcome.failure.map { PublishFailure(text: $0, isForGood: false) }
        }
        if cause != nil { try enableConfirms() }
        return (ledger.openIndices, cause)
    }

    /// Reads at least one frame, or closes the connection.
    private func readWithinCallTimeout(_ batch: inout AMQPBatch, _ what: String) throws(AMQPError) {
        let started = framesRead
        _ = try readFrames(
            into: &batch, framesMaximum: 64, timeoutMilliseconds: Int32(options.callTimeoutSeconds) * 1_000)
        if framesRead == started {
            close()
            throw AMQPError(.timedOut, "\(what): \(endpoint) did not answer within \(options.callTimeoutSeconds) s")
        }
    }
}
