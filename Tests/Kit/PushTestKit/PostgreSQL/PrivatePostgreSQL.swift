import Glibc
import Synchronization

/// A PostgreSQL server of our own: its data, port and users are its own, the system's clusters are untouched.
///
/// PostgreSQL refuses to run as root; then its processes run as the user `postgres` of the Debian package. A small
/// shell supervises the server and holds the reading end of a pipe whose other end is ours. When this process ends in
/// any way, the shell stops the server and removes its folder.
///
/// Most tests share one server (`shared`) and have a database each (`makeDatabase`); a test that stops or kills the
/// server starts one of its own.
public final class PrivatePostgreSQL: Sendable {
    private static let sharedServer = Task { try await PrivatePostgreSQL.start() }
    private static let databases = Atomic<Int>(0)

    /// The port, on 127.0.0.1; the server speaks TLS there if it is asked to.
    public let port: UInt16
    /// The password of both users.
    public let password: String

    private let folder: String
    private let programsFolder: String
    private let supervisor: SupervisedProcess.Started
    private let isStopped = Mutex(false)
    private let idleDatabases = Mutex<[String]>([])

    /// The server that all tests of this process share, started on first use.
    public static func shared() async throws -> PrivatePostgreSQL { try await sharedServer.value }

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Returns: the running server.
    /// - Throws: `PrivateServerFailure` if PostgreSQL is not installed (with the command that installs it) or does not
    ///   start.
    public static func start() async throws -> PrivatePostgreSQL {
        let server = try PrivatePostgreSQL()
        try await server.startAgain()
        return server
    }

    /// Starts a standby that follows this server, and waits until it has all that the server has.
    ///
    /// - Returns: a server that may be read, and written after `promote`; users, passwords and databases are the same.
    /// - Throws: `PrivateServerFailure` if it does not start or does not follow.
    public func startStandby() async throws -> PrivatePostgreSQL {
        let standby = try PrivatePostgreSQL(primary: self)
        try await standby.startAgain()
        let position = try await run("SELECT pg_current_wal_flush_lsn()", database: "postgres")
        let isFollowed = "SELECT coalesce(pg_last_wal_replay_lsn() >= '\(position)', false)"
        try await eventually(
            "the standby to follow: \(PrivateRabbitMQ.read(standby.logFile))", equals: "t", within: .seconds(120)
        ) {
            try await standby.run(isFollowed, database: "postgres")
        }
        return standby
    }

    private init(primary: PrivatePostgreSQL? = nil) throws(PrivateServerFailure) {
        programsFolder = try Self.findPrograms()
        port = try FreePorts.find(1)[0]
        password = primary?.password ?? "secret\(UInt64.random(in: 0 ... .max))"
        folder = try TemporaryFolder.makeUnowned(for: "postgresql")
        supervisor = try SupervisedProcess.start(
            ["/bin/sh", "-c", Self.supervisorScript],
            environment: [
                "APUS_FOLDER": folder, "APUS_PORT": "\(port)", "APUS_PASSWORD": password,
                "APUS_PRIMARY_PORT": primary.map { "\($0.port)" } ?? "",
                "APUS_ENTER": ServerPrograms.entering(programsFolder),
                "TMPDIR": ServerPrograms.path(in: "TMPDIR") ?? "/tmp",
                "PATH": "\(programsFolder):/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder,
            ])
    }

    deinit { stop() }

    // MARK: Use

    /// The certificate that the server shows, which is its own authority, for `localhost` and 127.0.0.1.
    public var certificateFile: String { "\(folder)/certificate.pem" }

    /// Makes an empty database that no other test has.
    ///
    /// - Returns: its name.
    public func makeDatabase() async throws -> String {
        let name = "test_\(Self.databases.add(1, ordering: .relaxed).newValue)"
        try await run("CREATE DATABASE \(name) TEMPLATE template0 STRATEGY file_copy", database: "postgres")
        return name
    }

    /// Does something with a database that is used again afterwards, because each takes 7 MB in 300 files.
    ///
    /// - Parameter body: is given the name of a database that has no schema `apus`; its connections must end with it.
    /// - Returns: the result of `body`.
    /// - Throws: `PrivateServerFailure` if the server refuses, or the error of `body`; then the database is abandoned.
    public func withDatabase<Value>(_ body: (String) throws -> Value) async throws -> Value {
        let name: String
        if let idle = idleDatabases.withLock({ $0.popLast() }) { name = idle } else { name = try await makeDatabase() }
        let value = try body(name)
        try await run("DROP SCHEMA IF EXISTS apus CASCADE", database: name)
        idleDatabases.withLock { $0.append(name) }
        return value
    }

    /// The address of a database.
    ///
    /// - Parameters:
    ///   - database: its name.
    ///   - user: `apus`, who may log in with TLS and without, or `secure`, who needs it; both may do everything.
    ///   - parameters: the part after the question mark, for example `sslmode=require`.
    /// - Returns: a URL with the password.
    public func url(database: String, user: String = "apus", parameters: String = "") -> String {
        "postgresql://\(user):\(password)@127.0.0.1:\(port)/\(database)" + (parameters.isEmpty ? "" : "?\(parameters)")
    }

    /// Runs SQL as the administrator, with `psql`.
    ///
    /// - Parameters:
    ///   - sql: one or more statements.
    ///   - database: where.
    /// - Returns: its output: a line for each row, the columns separated by `|`.
    /// - Throws: `PrivateServerFailure` with the server's message.
    @discardableResult
    public func run(_ sql: String, database: String) async throws -> String {
        try await psql(sql, connection + ["-d", database])
    }

    private var connection: [String] { ["-h", folder, "-p", "\(port)", "-U", "apus"] }

    /// The command line of one of PostgreSQL's programs that connects to a database as the administrator.
    ///
    /// - Parameters:
    ///   - program: for example `pgbench`.
    ///   - arguments: its further arguments, with the database where it takes it.
    /// - Returns: the path of the program, and all arguments.
    public func command(_ program: String, _ arguments: [String]) -> [String] {
        ["\(programsFolder)/\(program)"] + connection + arguments
    }

    /// Runs SQL at another address, for example that of a pooler before this server.
    func run(_ sql: String, url: String) async throws -> String { try await psql(sql, [url]) }

    private func psql(_ sql: String, _ address: [String]) async throws -> String {
        let result = try await SupervisedProcess.run(
            ["\(programsFolder)/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql] + address,
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder])
        guard result.status == 0 else { throw PrivateServerFailure("psql failed: \(result.output)") }
        return String(result.output.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// The process that serves a connection of ours to a database; the last one, if there are several.
    public func backend(of database: String) async throws -> Int32 {
        let text = try await run(
            """
            SELECT pid FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'apus'
            ORDER BY backend_start DESC LIMIT 1
            """, database: "postgres")
        guard let identifier = Int32(text) else { throw PrivateServerFailure("no connection to \(database): \(text)") }
        return identifier
    }

    // MARK: Faults

    /// Kills the server (SIGKILL) and waits until its first process is gone; its data stays.
    public func kill() throws(PrivateServerFailure) { _ = try ask("kill") }

    /// Stops all processes of the server (SIGSTOP): connections stay open, the server does not answer, and new clients
    /// wait.
    public func pause() throws(PrivateServerFailure) { _ = try ask("pause") }

    /// Lets a paused server run on.
    public func resume() throws(PrivateServerFailure) { _ = try ask("resume") }

    /// Makes a standby the primary, and waits until it can be written.
    public func promote() async throws {
        let answer = try await run("SELECT pg_promote(true, 120)", database: "postgres")
        guard answer == "t" else { throw PrivateServerFailure("the standby was not promoted: \(answer)") }
    }

    /// Starts a killed server again, on the same data and port, and waits until it accepts connections.
    public func startAgain() async throws {
        var log = try launch()
        // A standby says "ready to accept read-only connections".
        try await eventually("PostgreSQL to start", within: .seconds(120)) {
            // Processes of a killed server may hold its memory for a moment more, which ends a new server.
            log = log.contains("pre-existing shared memory block") ? try launch() : PrivateRabbitMQ.read(logFile)
            return log
        } until: {
            $0.contains("system is ready to accept")
        }
    }

    private var logFile: String { "\(folder)/server.out" }

    /// Starts the server's process, after the end of one that gave up, with an empty log.
    private func launch() throws(PrivateServerFailure) -> String {
        unlink(logFile)
        let answer = try ask("start")
        guard pid_t(answer) != nil else {
            throw PrivateServerFailure("PostgreSQL was not set up: \(PrivateRabbitMQ.read("\(folder)/setup.out"))")
        }
        return ""
    }

    /// Ends the server, its supervisor and everything that they left.
    public func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        close(supervisor.standardInput)
        SupervisedProcess.waitForEnd(supervisor.processIdentifier)
        close(supervisor.standardOutput)
    }

    private func ask(_ command: String) throws(PrivateServerFailure) -> String {
        let line = Array("\(command)\n".utf8)
        guard Glibc.write(supervisor.standardInput, line, line.count) == line.count,
            let answer = SupervisedProcess.readLine(supervisor.standardOutput)
        else { throw PrivateServerFailure("the supervisor of the PostgreSQL server has ended") }
        return answer
    }
}
