import ApusPublisher
import CSQLite

// The example of `PublishFromATransaction.md`, as a whole.

/// Orders, and in the same database the events that tell of them.
actor OrderStore {
    /// Yields after each commit.
    nonisolated let commits: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let connection: SQLiteConnection
    private let source = EventSource("https://shop.example.com/orders")

    init(path: String) throws {
        connection = try SQLiteConnection(path: path)
        try connection.run("CREATE TABLE IF NOT EXISTS orders (name TEXT PRIMARY KEY)")
        try connection.run(
            "CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, event BLOB NOT NULL)")
        (commits, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Events that an earlier run left are published first.
        wakeUp.yield()
    }

    /// Places an order, and writes the event that tells of it: both or neither.
    func place(_ order: String, for user: String) throws {
        let notification = Push.Notification(title: "Thank you", body: "We have your order \(order).")
        let event = try source.pushRequested(Push(app: "shop", to: .users([user]), notification))
        try connection.transaction {
            try connection.run("INSERT INTO orders (name) VALUES (CAST(? AS TEXT))", Array(order.utf8))
            try connection.run("INSERT INTO outbox (event) VALUES (?)", event.json)
        }
        wakeUp.yield()
    }

    /// The oldest events that are still to be published, in order.
    func oldestEvents(_ count: Int) throws -> [(number: Int64, event: Event)] {
        var rows: [(number: Int64, event: Event)] = []
        try connection.run("SELECT number, event FROM outbox ORDER BY number LIMIT \(count)") { row in
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(row, 1), count: Int(sqlite3_column_bytes(row, 1)))
            rows.append((sqlite3_column_int64(row, 0), try Event(json: Array(bytes))))
        }
        return rows
    }

    /// Removes events that RabbitMQ has.
    func removeEvents(_ numbers: [Int64]) throws {
        let list = numbers.map(String.init).joined(separator: ",")
        try connection.run("DELETE FROM outbox WHERE number IN (\(list))")
    }
}

/// Publishes the events of the outbox in order, and removes those that RabbitMQ has confirmed.
func relay(_ store: OrderStore, to publisher: EventPublisher) async throws {
    for await _ in store.commits {
        var isBehind = true
        while isBehind {
            let rows = try await store.oldestEvents(100)
            let results = await publisher.publish(rows.map(\.event))
            var published: [Int64] = []
            for (row, result) in zip(rows, results) {
                if case .failed(let error) = result {
                    print("event \(row.event.id): \(error)")
                    // The later events are published again as well, to keep the order.
                    if error.isTemporary { break }
                }
                published.append(row.number)
            }
            try await store.removeEvents(published)
            isBehind = published.count == 100
        }
    }
}

/// A connection of SQLite, as far as the example needs it.
final class SQLiteConnection {
    struct Failure: Error {
        let message: String
    }

    private let handle: OpaquePointer

    init(path: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else {
            throw Failure(message: "\(path) cannot be opened")
        }
        self.handle = handle
    }

    deinit { sqlite3_close(handle) }

    /// Runs statements as one: all of them, or none if one throws.
    func transaction(_ body: () throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement with at most one parameter, and reads its rows.
    func run(_ sql: String, _ parameter: [UInt8] = [], row: (OpaquePointer) throws -> Void = { _ in }) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure }
        defer { sqlite3_finalize(statement) }
        // The bytes are there until the statement has ended.
        try parameter.withUnsafeBytes { bytes in
            if !bytes.isEmpty { sqlite3_bind_blob64(statement, 1, bytes.baseAddress, UInt64(bytes.count), nil) }
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: try row(statement)
                case SQLITE_DONE: return
                default: throw failure
                }
            }
        }
    }

    private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }
}
