import AMQP
import EventLoop
import PushTestKit

/// Publishes the load at a steady rate, and keeps book of what the broker confirmed.
///
/// It never publishes an event twice: what was not confirmed when a connection ended is left at that, so that every
/// duplicate in a ledger is the worker's.
final class LoadPublisher: Sendable {
    /// What it has done so far.
    let load: Watched<PublishedLoad>
    private let loop: EventLoop
    private let core: LoopBound<LoadPublisherCore>

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - urls: the addresses of the broker's nodes, which are tried in turn.
    ///   - exchange: where to publish.
    ///   - workload: the events.
    ///   - eventsPerSecond: the rate.
    /// - Throws: `AMQPError` for an address that is none, `EventLoopError` if there is no thread.
    init(urls: [String], exchange: String, workload: Workload, eventsPerSecond: Int) throws {
        let endpoints = try urls.map { try AMQPEndpoint($0) }
        let loop = try EventLoop(name: "load")
        let load = Watched(PublishedLoad())
        self.loop = loop
        self.load = load
        core = LoopBound(
            LoadPublisherCore(
                endpoints: endpoints, exchange: exchange, workload: workload, eventsPerSecond: eventsPerSecond,
                loop: loop, load: load), to: loop)
    }

    /// Begins.
    func start() { loop.submit { [core] in core.value.start() } }

    /// Publishes elsewhere from the next connection on, and gives up the one that there is.
    func move(to urls: [String]) async throws {
        let endpoints = try urls.map { try AMQPEndpoint($0) }
        try await loop.run { [core] in core.value.move(to: endpoints) }
    }

    /// Publishes no more, waits a while for the confirms that are due, and closes.
    func finish(confirmSeconds: Double) async throws {
        try await loop.run { [core] in core.value.pause() }
        _ = await load.wait(deadlineSeconds: confirmSeconds) { $0.openCount == 0 }
        try await loop.run { [core] in core.value.stop() }
        loop.stopAndJoin()
    }
}
