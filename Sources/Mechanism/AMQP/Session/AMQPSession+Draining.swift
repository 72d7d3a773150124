import CRabbitMQ
import Messages

extension AMQPSession {
    /// Takes a name as a lock: an exclusive queue, which the broker deletes when this connection ends, however it ends.
    ///
    /// - Parameter name: the name of the queue, which holds nothing.
    /// - Returns: whether this connection has it; false if another one does.
    /// - Throws: `AMQPError`: `refused`, or the connection's end.
    public func lock(_ name: String) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            try declareTemporaryQueue(name)
            return true
        } catch  where error.code == .locked { return false }
    }

    /// How much is read before it is handed over, in bytes of bodies; a single delivery may be larger.
    private static let drainedBytesMaximum = 8 * 1024 * 1024
    /// How long to wait for deliveries that the queue said it has, in milliseconds; somebody else may have taken them.
    private static let drainQuietMilliseconds: Int32 = 1_000
    /// How long to wait for more before what there is is handed over, in milliseconds.
    private static let drainGatherMilliseconds: Int32 = 5

    /// Takes everything that a queue holds, in its order, and acknowledges each batch after it was taken over.
    ///
    /// A consumer receives the deliveries, which is some twenty times as fast as `basic.get` for each. `basic.get`
    /// tells whether the queue is empty. A quorum queue answers it through its log, so after all earlier
    /// acknowledgements; it answers a passive declare by a guess.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - prefetch: how many deliveries may be unacknowledged at once.
    ///   - take: receives a batch; its error ends the draining and leaves the batch unacknowledged.
    /// - Throws: `AMQPError`: `missing`, `refused`, or the connection's end; or what `take` throws. The session must
    ///   then be closed, by which all unacknowledged deliveries go back.
    public func drain(_ queue: String, prefetch: UInt16, _ take: ([AMQPDelivery]) throws -> Void) throws {
        try setPrefetch(prefetch)
        var round = 0
        while let (first, remainingCount) = try get(queue) {
            try take([first])
            try acknowledge(first.number, isMultiple: false)
            guard remainingCount > 0 else { continue }
            round += 1
            try consume(queue, count: remainingCount, prefetch: Int(prefetch), tag: "drain-\(round)", take)
        }
    }

    /// Takes deliveries by a consumer until there were so many, or none came for a while.
    private func consume(
        _ queue: String, count: Int, prefetch: Int, tag: String, _ take: ([AMQPDelivery]) throws -> Void
    ) throws {
        try consume(queue, tag: tag)
        var batch = AMQPBatch()
        var remainingCount = count
        var isEnding = false
        while true {
            let framesBefore = framesRead
            let isWaiting = batch.deliveries.isEmpty
            let patience = isEnding ? Int32(clamping: options.callTimeoutSeconds * 1_000) : Self.drainQuietMilliseconds
            _ = try readFrames(
                into: &batch, framesMaximum: 64,
                timeoutMilliseconds: isWaiting ? patience : Self.drainGatherMilliseconds)
            let isQuiet = framesRead == framesBefore
            let hasEnded = batch.events.contains { event in
                switch event {
                case .consumerCancelled, .consumerEnded: true
                default: false
                }
            }
            batch.events = []
            let bytes = batch.deliveries.reduce(0) { $0 + $1.message.body.count }
            if isQuiet || hasEnded || batch.deliveries.count >= prefetch / 2 || bytes >= Self.drainedBytesMaximum {
                remainingCount -= batch.deliveries.count
                try handOver(&batch, take)
            }
            if hasEnded { return }
            if isQuiet, isWaiting, isEnding {
                throw AMQPError(.timedOut, "ending a consumer: \(endpoint) did not answer")
            }
            if !isEnding, remainingCount <= 0 || isQuiet && isWaiting {
                try cancelConsumer(tag: tag)
                isEnding = true
            }
        }
    }

    private func handOver(_ batch: inout AMQPBatch, _ take: ([AMQPDelivery]) throws -> Void) throws {
        guard let last = batch.deliveries.last else { return }
        try take(batch.deliveries)
        try acknowledge(last.number, isMultiple: true)
        batch.deliveries = []
    }
}
