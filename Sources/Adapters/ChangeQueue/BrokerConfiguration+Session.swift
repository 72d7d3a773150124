import AMQP
import EventLoop

extension BrokerConfiguration {
    /// Connects and logs in, and says goodbye again: whether this process could work with the broker.
    ///
    /// - Returns: which broker it is.
    /// - Throws: `ChangeQueueError` with why not.
    @discardableResult
    public func checkConnection() async throws(ChangeQueueError) -> BrokerIdentity {
        try await withSession(purpose: "check") { BrokerIdentity($0.server) }
    }

    /// Runs blocking work with a session of its own, off the caller's thread, with whichever node answers first.
    func withSession<Result: Sendable>(
        purpose: String, patienceSeconds: Int = Self.patienceSeconds,
        _ body: @escaping @Sendable (AMQPSession) throws -> Result
    ) async throws(ChangeQueueError) -> Result {
        do {
            // A loop rather than any thread: it has the stack that librabbitmq may need.
            let loop = try EventLoop(name: "amqp-\(purpose)")
            defer { loop.stopAndJoin() }
            return try await loop.run {
                let session = try open(purpose: purpose, patienceSeconds: patienceSeconds)
                defer { session.close() }
                return try body(session)
            }
        } catch let error as ChangeQueueError { throw error } catch let error as AMQPError {
            throw ChangeQueueError(error)
        } catch { throw ChangeQueueError(.unavailable, "\(error)") }
    }

    /// Connects to the first node that can be had, in a random order.
    func open(
        purpose: String, patienceSeconds: Int = Self.patienceSeconds, takesLongHeaders: Bool = false
    ) throws(AMQPError) -> AMQPSession {
        var failure = AMQPError(.unreachable, "the broker has no address")
        var options = options(purpose: purpose)
        options.callTimeoutSeconds = patienceSeconds
        options.takesLongHeaders = takesLongHeaders
        // A request and its answer are one call into librabbitmq, so the limit of a write holds for both.
        options.stallLimitSeconds = Double(patienceSeconds + 1)
        for endpoint in endpoints.shuffled() {
            do throws(AMQPError) {
                return try AMQPSession(endpoint, options: options)
            } catch { failure = error }
        }
        throw failure
    }
}
