import EventLoop
import PushTestKit
import Synchronization

/// Commits a load to an outbox, in transactions of several backends, some of which are rolled back.
///
/// An event is confirmed when its row is committed. A backend whose session ends in between does not know whether it
/// was, so what is committed is read at the end. A push of a transaction that was rolled back has a number of its own,
/// so that it is not expected.
final class OutboxLoad: RunningLoad {
    /// The events that were committed, in a table of the backend's own.
    static let table = "CREATE TABLE committed (number bigint PRIMARY KEY)"
    private static let backendCount = 3
    private static let eventsMaximum = 40
    /// One of so many transactions comes after one that is rolled back.
    private static let rollbackInterval = 4
    private static let rolledBackNumber = 1_000_000_000
    private static let pauseSeconds = 0.1

    private struct State {
        var workload: Workload
        var generator: SeededGenerator
        var drawnCount = 0
        var isStopped = false
        var backends: [Task<Void, any Error>] = []
    }

    let load = Watched(PublishedLoad<LedgerEvent>())
    private let outbox: StagedOutbox
    private let eventsPerSecond: Double
    private let state: Mutex<State>

    init(outbox: StagedOutbox, workload: Workload, eventsPerSecond: Double, seed: UInt64) {
        self.outbox = outbox
        self.eventsPerSecond = eventsPerSecond
        state = Mutex(State(workload: workload, generator: SeededGenerator(seed: seed ^ 0xc0117)))
    }

    func start() {
        let began = Deadline.now()
        state.withLock { state in
            for _ in 0..<Self.backendCount {
                state.backends.append(
                    Task {
                        while let transaction = draw(afterSeconds: Deadline.now() - began) {
                            try await commit(transaction)
                            try await Pause.seconds(Self.pauseSeconds)
                        }
                    })
            }
        }
    }

    func finish(confirmSeconds: Double) async throws {
        let backends = state.withLock { state in
            state.isStopped = true
            return state.backends
        }
        for backend in backends { try await backend.value }
        let committed = try await eventually("the committed events", within: .seconds(confirmSeconds)) {
            try? await outbox.run("SELECT number FROM committed")
        } until: {
            $0 != nil
        }
        confirm((committed ?? "").split(separator: "\n").compactMap { Int($0) })
    }

    /// The next transaction: its events, and its SQL; nil at the end.
    private func draw(afterSeconds seconds: Double) -> (events: [LedgerEvent], sql: String)? {
        let transaction: ([LedgerEvent], String)? = state.withLock { state in
            guard !state.isStopped else { return nil }
            let dueCount = Int(seconds * eventsPerSecond) - state.drawnCount
            var events: [LedgerEvent] = []
            while events.count < min(dueCount, Self.eventsMaximum), let event = state.workload.next() {
                events.append(event)
            }
            state.drawnCount += max(dueCount, 0)
            guard let first = events.first else { return (events, "") }
            var sql = ""
            if Int.random(in: 0..<Self.rollbackInterval, using: &state.generator) == 0 {
                let event = LedgerEvent(number: Self.rolledBackNumber + first.number, content: .request(devices: [0]))
                sql = "BEGIN; \(Self.publication(of: event, in: state.workload)) ROLLBACK; "
            }
            let numbers = events.map { "(\($0.number))" }.joined(separator: ", ")
            let publications = events.map { Self.publication(of: $0, in: state.workload) }.joined()
            // Some commit late, after rows with greater numbers.
            let seconds = Double.random(in: 0...0.2, using: &state.generator)
            sql += "BEGIN; INSERT INTO committed VALUES \(numbers); \(publications) SELECT pg_sleep(\(seconds)); COMMIT"
            // In the order of their numbers, so within the lock of the draw.
            load.update { $0.events += events }
            return (events, sql)
        }
        return transaction
    }

    private static func publication(of event: LedgerEvent, in workload: Workload) -> String {
        """
        SELECT apus_outbox.publish(e ->> 'type', e -> 'data', id => e ->> 'id', source => e ->> 'source')
        FROM (SELECT $body$\(workload.message(of: event).body)$body$::jsonb AS e) event;
        """
    }

    private func commit(_ transaction: (events: [LedgerEvent], sql: String)) async throws {
        guard !transaction.events.isEmpty else { return }
        do {
            try await outbox.run(transaction.sql)
            confirm(transaction.events.map(\.number))
        } catch let failure as PrivateServerFailure {
            load.update { load in
                load.interruptionCount += 1
                load.lastInterruption = "\(failure)"
            }
        }
    }

    private func confirm(_ numbers: [Int]) {
        let now = WallClock.nowMilliseconds()
        load.update { load in
            for number in numbers where load.confirmedMilliseconds[number] == nil {
                load.confirmedMilliseconds[number] = now
            }
        }
    }
}
