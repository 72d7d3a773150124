public import Backoffice
import ChangeEvents
public import ChangeQueue
import EventLoop
import Messages
import Metrics
public import OperatorPage
public import RegistryCore
import StructuredLogging
import Synchronization

/// RabbitMQ for the operator's page, by the adapter that workers and commands use.
public struct PageBrokerAdapter: PageBroker {
    private static let publishSecondsMaximum = 10.0

    private let broker: BrokerConfiguration
    private let retryDelaysMilliseconds: [Int64]
    private let openRegistry: @Sendable () throws(RegistryError) -> any DeadLetterRegistry
    private let depths: DepthConnection

    /// Creates an adapter; it connects when the page asks.
    ///
    /// - Parameters:
    ///   - broker: where RabbitMQ is.
    ///   - retryDelaysMilliseconds: the delays of the retry queues.
    ///   - openRegistry: opens the registry for writing, for work with dead letters.
    public init(
        _ broker: BrokerConfiguration, retryDelaysMilliseconds: [Int64],
        openRegistry: @escaping @Sendable () throws(RegistryError) -> any DeadLetterRegistry
    ) {
        self.broker = broker
        self.retryDelaysMilliseconds = retryDelaysMilliseconds
        self.openRegistry = openRegistry
        depths = DepthConnection(broker, retryDelaysMilliseconds)
    }

    /// The queues of the namespace with their counts.
    public func queues() async throws -> PageQueues {
        let counts = try await rephrasing { try await depths.read() }
        var queues = counts.queues.map { count in
            var queue = PageQueues.Queue(
                name: count.name, kind: PageQueues.Queue.Kind(count.purpose), readyCount: count.messageCount,
                consumerCount: count.consumerCount)
            if case .retry(let delay) = count.purpose { queue.delayMilliseconds = delay }
            return queue
        }
        guard let statistics = try? await broker.queueStatistics(of: queues.map(\.name)) else {
            return PageQueues(queues, refusal: counts.refusal, isFromManagement: false)
        }
        for index in queues.indices {
            guard let known = statistics[queues[index].name] else { continue }
            queues[index].unacknowledgedCount = known.unacknowledgedCount
            queues[index].oldestSeconds = known.oldestTimestampSeconds.map { timestamp in
                max(0, Double(WallClock.nowMilliseconds()) / 1_000 - Double(timestamp))
            }
        }
        return PageQueues(queues, refusal: counts.refusal, isFromManagement: true)
    }

    /// Moves the letters of the queue of dead letters to the registry.
    public func collect(_ progress: @escaping @Sendable (PageTally) -> Void) async throws -> PageTally {
        try await rephrasing {
            let tally = try await letters { progress(PageTally(doneCount: $0.collectedCount)) }.collect()
            return PageTally(doneCount: tally.collectedCount)
        }
    }

    /// Collects, and puts dead letters back to work.
    public func replay(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally {
        try await rephrasing {
            PageTally(try await letters { progress(PageTally($0)) }.replay(selection))
        }
    }

    /// Collects, and deletes dead letters.
    public func purge(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally {
        try await rephrasing {
            PageTally(try await letters { progress(PageTally($0)) }.purge(selection))
        }
    }

    /// Publishes an event, and waits for the confirm.
    public func publish(_ event: [UInt8], type: String) async throws {
        var message = Message(body: event)
        message.properties.contentType = "application/cloudevents+json"
        message.properties.timestampSeconds = UInt64(max(0, WallClock.nowMilliseconds() / 1_000))
        try await rephrasing {
            let publisher = try ConfirmedPublisher(configuration: broker, logger: .silent, metrics: MetricsRegistry())
            let outcome = SingleOutcome()
            publisher.start(handler: outcome)
            publisher.publish([
                OutgoingMessage(
                    identifier: 1, exchange: broker.names.changes, routingKey: type, message: message)
            ])
            _ = await publisher.close(deadlineSeconds: Self.publishSecondsMaximum)
            if let problem = outcome.problem { throw PageBrokerError(problem) }
        }
    }

    private func letters(_ progress: @escaping @Sendable (DeadLetterTally) -> Void) -> DeadLetters {
        DeadLetters(configuration: broker, openRegistry: openRegistry, progress: progress)
    }

    private func rephrasing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as ChangeQueueError {
            throw PageBrokerError(error.message)
        }
    }
}

/// One connection for the counts of queues, kept from one look to the next.
private actor DepthConnection {
    private static let idle = Duration.seconds(60)

    private let broker: BrokerConfiguration
    private let retryDelaysMilliseconds: [Int64]
    private var reader: QueueDepthReader?
    private var looksCount = 0

    init(_ broker: BrokerConfiguration, _ retryDelaysMilliseconds: [Int64]) {
        self.broker = broker
        self.retryDelaysMilliseconds = retryDelaysMilliseconds
    }

    func read() async throws -> QueueCounts {
        looksCount += 1
        let reader: QueueDepthReader
        if let open = self.reader {
            reader = open
            self.reader = nil
        } else {
            reader = try await QueueDepthReader.connect(broker, retryDelaysMilliseconds: retryDelaysMilliseconds)
        }
        do {
            let counts = try await reader.readEach()
            await keep(reader)
            return counts
        } catch {
            await reader.close()
            throw error
        }
    }

    /// Keeps a connection for the next reading of the queues, and closes it when no page has asked for a while.
    private func keep(_ reader: QueueDepthReader) async {
        guard self.reader == nil else { return await reader.close() }
        self.reader = reader
        let look = looksCount
        Task {
            try? await Task.sleep(for: Self.idle)
            await self.closeUnless(lookedAfter: look)
        }
    }

    private func closeUnless(lookedAfter look: Int) async {
        guard looksCount == look, let reader else { return }
        self.reader = nil
        await reader.close()
    }
}

/// The outcome of one publish.
private final class SingleOutcome: PublishHandler {
    private struct State {
        var outcome: PublishOutcome?
        var connectionProblem: String?
    }

    private let state = Mutex(State())

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        state.withLock { $0.outcome = outcomes.first?.outcome ?? $0.outcome }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        state.withLock { $0.connectionProblem = isReady ? nil : reason }
    }

    /// Why the message is not in a queue; nil if it is.
    var problem: String? {
        state.withLock { state in
            switch state.outcome {
            case .confirmed: nil
            case .returned(let text): "no queue takes the event: \(text); run 'apus topology apply'"
            case .rejected(let text): "the event is not accepted: \(text)"
            case .refused: "the event was refused (basic.nack): a queue is full, or has lost its leader"
            case nil: state.connectionProblem ?? "the event was not confirmed in time; it may still be sent"
            }
        }
    }
}

extension PageTally {
    fileprivate init(_ tally: DeadLetterTally) {
        self.init(doneCount: tally.doneCount, refusedCount: tally.refusedCount)
        if let failure = tally.failure {
            problem = "\(failure)"
            hasFailed = true
        } else if let refusal = tally.refusal {
            problem = "RabbitMQ does not accept \(tally.refusedCount) letters; the first: \(refusal)"
        }
    }
}

extension PageQueues.Queue.Kind {
    fileprivate init(_ purpose: QueueCount.Purpose) {
        self =
            switch purpose {
            case .work: .work
            case .retry: .retry
            case .fanOut: .fanOut
            case .deadLetter: .deadLetter
            }
    }
}
