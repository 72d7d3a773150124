import AMQP
import EventLoop

/// Where the broker is and how this process uses it.
public struct BrokerConfiguration: Hashable, Sendable {
    /// The broker's nodes; each attempt to connect takes the next, in a random order for each round.
    let endpoints: [AMQPEndpoint]
    /// A file of PEM certificates to trust beside the system's; empty for none.
    public var caFile: String
    /// How all names of exchanges and queues begin.
    public var namespace: String
    /// How many unacknowledged deliveries the broker may hand to this process from all work queues, 1 to 65535.
    public var prefetch: UInt16
    /// How many work queues there are to be, 1 to `QueueNames.workQueuesMaximum`.
    public var workQueueCount: Int
    /// Where RabbitMQ's management API is, `http://HOST:15672` or `https://…`; empty for none.
    public var managementURL = ""
    /// The name of the connections in the broker's own tools; each connection adds its purpose.
    public var connectionName: String

    /// The mean of the first pause before connecting again, times two, in seconds; doubled with each failure.
    public var reconnectBaseSeconds = 0.5
    /// The longest pause before connecting again, in seconds.
    public var reconnectMaximumSeconds = 30.0
    /// The time that a write to the broker may block before the connection is closed, in seconds.
    public var stallLimitSeconds = 10.0
    /// The time that a publish may stay without a confirm before the connection is closed, in seconds.
    public var confirmTimeoutSeconds = 30.0
    /// How long a queue may refuse everything before a new channel is tried, in seconds; doubled with each in vain.
    public var refusalPatienceSeconds = 5.0

    /// How long a publisher publishes a message again that the broker refuses, in seconds; at 0 it says so at once, and
    /// its caller decides.
    public var refusedAgainSeconds = 0.0
    /// How long a publisher publishes a message again that no queue took, in seconds; at 0 it says so at once.
    public var returnedAgainSeconds = 0.0

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - urls: the addresses of the broker's nodes, `amqp://` or `amqps://`, at least one.
    ///   - caFile: a file of PEM certificates to trust beside the system's.
    ///   - namespace: how all names begin.
    ///   - prefetch: how many unacknowledged deliveries to hold.
    ///   - workQueueCount: over how many work queues the events are spread.
    ///   - connectionName: the name of this process in the broker's own tools.
    /// - Throws: `ChangeQueueError` (`invalid`) with the part of an address that is wrong, without its password.
    public init(
        urls: [String], caFile: String = "", namespace: String = "apus", prefetch: UInt16 = 1_000,
        workQueueCount: Int = 1, connectionName: String = "apus"
    ) throws(ChangeQueueError) {
        guard !urls.isEmpty else { throw ChangeQueueError(.invalid, "the broker has no address") }
        do throws(AMQPError) {
            var endpoints: [AMQPEndpoint] = []
            for url in urls { endpoints.append(try AMQPEndpoint(url)) }
            self.endpoints = endpoints
        } catch { throw ChangeQueueError(error) }
        self.caFile = caFile
        self.namespace = namespace
        self.prefetch = max(1, prefetch)
        self.workQueueCount = min(max(1, workQueueCount), QueueNames.workQueuesMaximum)
        self.connectionName = connectionName
    }

    /// The addresses of the broker's nodes, without their passwords.
    public var endpointDescriptions: [String] { endpoints.map(\.description) }

    /// The hosts of the broker's nodes.
    public var hosts: [String] { endpoints.map(\.host) }

    /// The virtual host; the first node's, because all nodes have the same.
    public var virtualHost: String { endpoints.first?.virtualHost ?? "/" }

    /// The names of the exchanges and queues.
    public var names: QueueNames { QueueNames(namespace: namespace) }

    /// The time that one-off work waits for an answer, in seconds; a worker would connect again instead.
    ///
    /// A new quorum queue is written to disk by every node before RabbitMQ answers, which took more than ten seconds
    /// under load. Missing heartbeats reveal a dead node sooner.
    static let patienceSeconds = 60

    func options(purpose: String) -> AMQPOptions {
        var options = AMQPOptions()
        options.connectionName = "\(connectionName) \(purpose)"
        options.caFile = caFile
        options.stallLimitSeconds = stallLimitSeconds
        return options
    }

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
