import EventLoop
import Metrics
import PushTestKit
import RegistryAPI
import RegistryCore
import StructuredLogging

@testable import PostgreSQL
@testable import PostgresRegistry
@testable import SQLiteRegistry

/// A store of one kind that is served, and what tests do to it behind the server's back.
final class ServedStore {
    /// Where the registry is.
    enum Kind: String, CaseIterable, Sendable {
        case sqlite
        case postgres

        /// Those that tests are to serve; PostgreSQL is a process.
        static var allCases: [Kind] { UnitRun.isOne ? [.sqlite] : [.sqlite, .postgres] }
    }

    let server: RegistryServer
    let log = LogLines()
    /// The file, if it is one.
    let path: String
    let token: String
    /// The database of the shared server, if it is one.
    let database: String
    /// The connections of the server to PostgreSQL, if they are traced.
    private var traces: [ConnectionTrace] = []
    private let folder: TemporaryFolder
    private let unlock: () throws -> (() -> Void)

    /// Serves a new registry.
    ///
    /// - Parameters:
    ///   - kind: where it is.
    ///   - lockMilliseconds: how long a request waits for a lock.
    ///   - isTraced: whether the round trips to PostgreSQL are counted.
    ///   - prepare: prepares the connection that writes before it is served.
    /// - Throws: an error that says why the store cannot be made or served.
    init(
        _ kind: Kind = .sqlite, lockMilliseconds: Int, isTraced: Bool = false,
        prepare: (any ServedRegistry) throws -> Void = { _ in }
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/registry.db"
        self.folder = folder
        self.path = path
        let secret = BearerToken.random()
        token = secret.revealed
        let entry = APIToken(name: "t", digest: secret.digest, app: nil, permission: .write, createdAtMilliseconds: 1)
        switch kind {
        case .sqlite:
            database = ""
            let registry = try SQLiteRegistry.open(
                path: path, mode: .create, busyTimeoutMilliseconds: lockMilliseconds)
            try registry.saveToken(entry)
            try prepare(registry)
            let reader = try SQLiteRegistry.open(path: path, mode: .readOnly, busyTimeoutMilliseconds: lockMilliseconds)
            server = try Self.serve(registry, reader, log)
            unlock = {
                let lock = try RegistryLock(path: path)
                return { lock.release() }
            }
        case .postgres:
            let postgres = try await PrivatePostgreSQL.shared()
            database = try await postgres.makeDatabase()
            let url = postgres.url(database: database)
            func open(_ mode: RegistryOpenMode, lockMilliseconds: Int) throws -> sending PostgresRegistry {
                try PostgresRegistry.open(
                    url: url, mode: mode, callMilliseconds: 120_000, connectMilliseconds: 60_000,
                    lockMilliseconds: lockMilliseconds)
            }
            let registry = try open(.create, lockMilliseconds: lockMilliseconds)
            try registry.saveToken(entry)
            try prepare(registry)
            let reader = try open(.readOnly, lockMilliseconds: lockMilliseconds)
            if isTraced {
                traces = [
                    try ConnectionTrace(registry.connection.handle, path: folder.path + "/writer.trace"),
                    try ConnectionTrace(reader.connection.handle, path: folder.path + "/reader.trace"),
                ]
            }
            server = try Self.serve(registry, reader, log)
            unlock = {
                let other = try PostgresRegistry.open(
                    url: url, mode: .readWrite, callMilliseconds: 120_000, connectMilliseconds: 60_000)
                // Readers are not kept out.
                try other.connection.execute(
                    "BEGIN; LOCK TABLE apus.device IN SHARE MODE", Deadline(milliseconds: 60_000))
                return { other.connection.close() }
            }
        }
    }

    deinit { server.stop() }

    private static func serve(
        _ registry: sending any ServedRegistry, _ reader: sending any ServedRegistry, _ log: LogLines
    ) throws -> RegistryServer {
        var configuration = RegistryServerConfiguration(
            host: "127.0.0.1", port: 0, apps: [RegistryAPIApp(name: "chat", bundleID: "com.example.chat")],
            accessKeys: [])
        configuration.requestsPerSecondMaximum = 100_000
        return try RegistryServer(
            configuration: configuration, registry: registry, reader: reader, metrics: MetricsRegistry(),
            logger: log.logger)
    }

    /// How often the server has waited for PostgreSQL since it serves.
    func roundTripCount() throws -> Int { try traces.reduce(0) { $0 + (try $1.roundTripCount()) } }

    /// Keeps all sessions from writing devices, until the answer is called.
    func lock() throws -> () -> Void { try unlock() }

    /// Sends a request and waits for its answer.
    func send(_ method: String, _ path: String, _ body: String = "", token: String? = nil) -> PlainHTTP.Answer {
        PlainHTTP.exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token ?? self.token)\r\n"
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)", server.port)
    }

    /// Registers a device.
    func putDevice(_ number: Int) -> PlainHTTP.Answer { send("PUT", "/v1/devices/d\(number)", Self.device(number)) }

    /// The body that registers a device.
    static func device(_ number: Int) -> String {
        #"{"platform":"APNS","token":"\#(String(0xAB00 + number, radix: 16))","app":"chat"}"#
    }
}

/// The log of a server: the event of each line, and its fields.
final class LogLines: Sendable {
    private let lines = Watched<[String]>([])

    /// Keeps every line.
    var logger: Logger {
        Logger(minimum: .debug) { [lines] _, event, fields in
            lines.update { $0.append("\(event) \(fields.map { "\($0)" }.joined(separator: " "))") }
        }
    }

    /// How many lines there are of an event.
    func count(_ event: String) -> Int { lines.read { $0.count { $0.hasPrefix(event) } } }

    /// Waits until an event was logged so many times.
    func wait(for event: String, count: Int) async -> Bool {
        await lines.wait { $0.count { $0.hasPrefix(event) } >= count }
    }
}
