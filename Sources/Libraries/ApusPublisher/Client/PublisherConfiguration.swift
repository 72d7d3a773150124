import ChangeQueue

/// Where RabbitMQ is, and how events get there.
public struct PublisherConfiguration: Sendable {
    /// The addresses of RabbitMQ's nodes: `amqp://USER:PASSWORD@HOST:PORT/VHOST`, or `amqps://` for TLS.
    ///
    /// Each attempt to connect takes the next, in a random order.
    public var urls: [String]
    /// A PEM file with certificates to trust besides the system's.
    public var extraTrustAnchorsFile: String?
    /// How the names of Apus' exchanges begin: events go to `apus.changes`.
    public var namespace = "apus"
    /// The name of the connection in RabbitMQ's own tools.
    public var connectionName = "apus-publisher"
    /// How long an event may stay without a confirm; for several at once, how long none of them is confirmed.
    ///
    /// Within this time the publisher connects again, and publishes again what RabbitMQ refuses or no queue takes.
    public var timeout = Duration.seconds(60)
    /// How many events may be unconfirmed at a time; `publish` suspends while there are more.
    public var unconfirmedMaximum = 1_000

    /// Describes a broker.
    ///
    /// - Parameter urls: the addresses of its nodes, at least one.
    public init(urls: [String]) { self.urls = urls }

    /// Describes a broker of one node, or behind one address.
    ///
    /// - Parameter url: its address.
    public init(url: String) { self.init(urls: [url]) }

    /// The share of the time in which events are published again; the rest is for the last answer.
    private static let retryShare = 0.9

    /// The same, for the connection.
    ///
    /// - Throws: `PublisherError` (`configurationInvalid`).
    func broker() throws(PublisherError) -> BrokerConfiguration {
        let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18
        guard (0.001...86_400).contains(seconds) else {
            throw PublisherError(.configurationInvalid, "timeout is \(timeout); it must be from 1 ms to 24 hours")
        }
        guard unconfirmedMaximum > 0 else {
            throw PublisherError(
                .configurationInvalid, "unconfirmedMaximum is \(unconfirmedMaximum); it must be at least 1")
        }
        do throws(ChangeQueueError) {
            var broker = try BrokerConfiguration(
                urls: urls, caFile: extraTrustAnchorsFile ?? "", namespace: namespace, connectionName: connectionName)
            broker.refusedAgainSeconds = seconds * Self.retryShare
            broker.returnedAgainSeconds = seconds * Self.retryShare
            broker.confirmTimeoutSeconds = min(broker.confirmTimeoutSeconds, seconds)
            return broker
        } catch { throw PublisherError(.configurationInvalid, error.message) }
    }
}
