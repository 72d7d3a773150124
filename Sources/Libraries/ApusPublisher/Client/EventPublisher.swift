import ChangeQueue
import EventLoop
import Metrics
import Notifications
import StructuredLogging

/// Publishes events to RabbitMQ, and says when RabbitMQ has them: over one connection that it keeps.
///
/// Make one for the life of the program and close it at its end. All of it may be used from any task at once.
///
/// Each event is published persistently and with a confirm. An event that RabbitMQ refuses, or that no queue takes, is
/// published again after 0.1 to 5 seconds. An event that was not confirmed when the connection ended is published again
/// on the next one. So RabbitMQ may get an event twice, always with the same `id`.
public final class EventPublisher: Sendable {
    private let book: PublishBook
    private let connection: ConfirmedPublisher
    private let configuration: PublisherConfiguration

    /// Prepares a publisher; it begins to connect at once, and goes on for as long as it takes.
    ///
    /// - Parameters:
    ///   - configuration: where RabbitMQ is.
    ///   - stateHandler: is told when events can be published, and when and why they wait; called on the publisher's
    ///     own thread, so it must not wait for anything.
    /// - Throws: `PublisherError` (`configurationInvalid`, `systemFailed`), which says what to correct.
    public init(
        _ configuration: PublisherConfiguration, stateHandler: (@Sendable (PublisherState) -> Void)? = nil
    ) throws(PublisherError) {
        let broker = try configuration.broker()
        do throws(EventLoopError) {
            connection = try ConfirmedPublisher(configuration: broker, logger: .silent, metrics: MetricsRegistry())
        } catch { throw PublisherError(.systemFailed, "\(error)") }
        self.configuration = configuration
        book = PublishBook(
            connection, exchange: broker.names.changes, roomMaximum: configuration.unconfirmedMaximum,
            stateHandler: stateHandler)
        connection.start(handler: book)
    }

    deinit {
        // Its thread and its connection end even if `close` was never called.
        let (book, connection) = (book, connection)
        guard book.beginClosing() else { return }
        Task {
            _ = await connection.close(deadlineSeconds: 0)
            book.finishClosing()
        }
    }

    // MARK: Publishing

    /// Publishes an event, and returns when RabbitMQ has it on disk.
    ///
    /// It suspends while as many events as `unconfirmedMaximum` are unconfirmed. For many events use `publish(_:)` with
    /// an array, or several tasks: one after the other they go only as fast as RabbitMQ confirms each.
    ///
    /// - Parameter event: the event.
    /// - Throws: `PublisherError`, after the configuration's `timeout` at the latest; `isTemporary` says whether to
    ///   publish the same event again later.
    public func publish(_ event: Event) async throws(PublisherError) {
        if case .failed(let error) = await publish([event]).first { throw error }
    }

    /// Publishes events in order, and returns when RabbitMQ has all of them on disk.
    ///
    /// An event that RabbitMQ refuses, or that no queue takes, is published again after those that follow it.
    ///
    /// - Parameter events: the events, any number; no more than `unconfirmedMaximum` are with RabbitMQ at a time.
    /// - Returns: a result for each event, in the order of the events.
    public func publish(_ events: [Event]) async -> [PublishResult] {
        guard !events.isEmpty else { return [] }
        guard let batch = book.add(events) else {
            let error = PublisherError(.closed, "the publisher was closed; the event was not published")
            return events.map { _ in .failed(error) }
        }
        let watchdog = Task { [book, timeout = configuration.timeout] in
            while let progress = book.progress(of: batch), ContinuousClock.now < progress + timeout {
                try await Task.sleep(until: progress + timeout, clock: .continuous)
            }
            book.giveUp(batch, after: timeout)
        }
        defer { watchdog.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { book.wait(for: batch, $0) }
        } onCancel: {
            book.cancel(batch)
        }
    }

    /// How many events RabbitMQ has not confirmed, without those that wait until there is room.
    public var unconfirmedCount: Int { book.sentCount }

    /// Connects and logs in on a connection of its own, and says goodbye again: for the start of a program.
    ///
    /// - Throws: `PublisherError` (`connectionFailed`) with why not.
    public func checkConnection() async throws(PublisherError) {
        let broker = try configuration.broker()
        do throws(ChangeQueueError) { try await broker.checkConnection() } catch {
            throw PublisherError(.connectionFailed, error.message)
        }
    }

    // MARK: The end

    /// Takes no more events, waits for the confirms of those that it has, and closes the connection.
    ///
    /// - Parameter deadline: how long it waits at most.
    /// - Returns: whether RabbitMQ answered for every event; if not, the calls that still waited fail with `closed`. A
    ///   second call returns at once.
    @discardableResult
    public func close(deadline: Duration = .seconds(30)) async -> Bool {
        guard book.beginClosing() else { return book.sentCount == 0 }
        let seconds = Double(deadline.components.seconds) + Double(deadline.components.attoseconds) / 1e18
        let isComplete = await connection.close(deadlineSeconds: min(max(0, seconds), 86_400))
        book.finishClosing()
        return isComplete
    }
}

/// Whether a publisher can publish now.
public enum PublisherState: Hashable, Sendable {
    /// It is connected; the text says where to.
    case ready(String)
    /// Events wait; the text says why: no connection, RabbitMQ short of memory or disk, a full queue, no queue.
    case waiting(String)
}
