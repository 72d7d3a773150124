import Glibc
import Synchronization

/// A PgBouncer of our own before a private PostgreSQL server: the pooler that most operators have.
///
/// It refuses to run as root, as PostgreSQL does, and is supervised in the same way (`PrivatePostgreSQL`).
public final class PrivatePgBouncer: Sendable {
    /// For how long a client has a session of the server (PgBouncer, `pool_mode`).
    public enum Mode: String, Sendable, CaseIterable {
        case session
        case transaction
        case statement
    }

    /// The port, on 127.0.0.1.
    public let port: UInt16
    private let server: PrivatePostgreSQL
    private let folder: String
    private let supervisor: SupervisedProcess.Started
    private let isStopped = Mutex(false)

    private static let program = ServerPrograms.path(in: "APUS_PGBOUNCER") ?? "/usr/sbin/pgbouncer"

    /// Whether it keeps prepared statements without being told to, as version 1.24 and newer do.
    ///
    /// - Throws: `PrivateServerFailure` if it is not installed, or says no version.
    public static func keepsStatements() async throws -> Bool {
        let output = try await SupervisedProcess.run([program, "--version"], environment: [:]).output
        guard let match = output.firstMatch(of: /PgBouncer ([0-9]+)\.([0-9]+)/), let major = Int(match.1),
            let minor = Int(match.2)
        else { throw PrivateServerFailure("\(program) says no version: \(output)") }
        return (major, minor) >= (1, 24)
    }

    /// Starts a pooler and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - server: the server; all its databases are there under their names.
    ///   - mode: how it lends sessions.
    ///   - sessions: how many sessions of one database it has at most.
    ///   - settings: further lines of its configuration.
    /// - Returns: the running pooler.
    /// - Throws: `PrivateServerFailure` if it is not installed or does not start.
    public static func start(
        before server: PrivatePostgreSQL, mode: Mode, sessions: Int = 3, settings: String = ""
    ) async throws -> PrivatePgBouncer {
        let pooler = try PrivatePgBouncer(server)
        let configuration = """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(pooler.port)
            unix_socket_dir =
            auth_type = scram-sha-256
            auth_file = users
            pool_mode = \(mode.rawValue)
            default_pool_size = \(sessions)
            max_client_conn = 200
            server_login_retry = 1
            server_round_robin = 1
            logfile =
            pidfile =
            \(settings)

            """
        try pooler.write("settings", configuration)
        try pooler.write("users", "\"apus\" \"\(server.password)\"\n\"secure\" \"\(server.password)\"\n")
        try await pooler.startAgain()
        return pooler
    }

    private init(_ server: PrivatePostgreSQL) throws(PrivateServerFailure) {
        self.server = server
        port = try FreePorts.find(1)[0]
        folder = try TemporaryFolder.makeUnowned(for: "pgbouncer")
        supervisor = try SupervisedProcess.start(
            ["/bin/sh", "-c", Self.supervisorScript],
            environment: [
                "APUS_FOLDER": folder, "APUS_PROGRAM": Self.program,
                "PATH": "/usr/sbin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder,
            ])
    }

    deinit { stop() }

    private static let supervisorScript = """
        unprivileged() {
            if [ "$(id -u)" = 0 ]; then
                exec setpriv --reuid postgres --regid postgres --init-groups -- "$@"
            else
                exec "$@"
            fi
        }
        cd "$APUS_FOLDER" || exit 1
        pooler=
        finish() { [ -z "$pooler" ] || { kill -9 "$pooler"; wait "$pooler"; pooler=; } 2>/dev/null; }
        while read -r command; do
            case "$command" in
            start)
                [ "$(id -u)" != 0 ] || chown -R postgres: .
                unprivileged "$APUS_PROGRAM" settings </dev/null >pooler.out 2>&1 &
                pooler=$!
                echo "$pooler" ;;
            kill)
                finish
                echo killed ;;
            esac
        done
        finish
        cd /
        rm -rf "$APUS_FOLDER"
        """

    // MARK: Use

    /// The address of a database through the pooler, with the password.
    public func url(database: String, parameters: String = "") -> String {
        server.url(database: database, parameters: parameters).replacing(":\(server.port)/", with: ":\(port)/")
    }

    /// Runs SQL through the pooler, as another application does.
    ///
    /// - Parameters:
    ///   - sql: one or more statements.
    ///   - database: where.
    /// - Returns: its output: a line for each row, the columns separated by `|`.
    /// - Throws: `PrivateServerFailure` with the server's message.
    @discardableResult
    public func run(_ sql: String, database: String) async throws -> String {
        try await server.run(sql, url: url(database: database))
    }

    // MARK: Faults

    /// Kills the pooler (SIGKILL), and with it all its connections.
    public func kill() throws(PrivateServerFailure) { _ = try ask("kill") }

    /// Starts a killed pooler again, on the same port, and waits until it accepts connections.
    public func startAgain() async throws {
        guard let identifier = pid_t(try ask("start")) else { throw PrivateServerFailure("PgBouncer was not started") }
        let log = "\(folder)/pooler.out"
        try await eventually(
            "PgBouncer to start; install it with: apt-get install pgbouncer; its process is "
                + PrivateRabbitMQ.read("/proc/\(identifier)/stat"), within: .seconds(180)
        ) {
            PrivateRabbitMQ.read(log)
        } until: {
            $0.contains("process up")
        }
    }

    /// Ends the pooler, its supervisor and everything that they left.
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

    private func write(_ name: String, _ text: String) throws(PrivateServerFailure) {
        let bytes = Array(text.utf8)
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw PrivateServerFailure("\(folder)/\(name) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    private func ask(_ command: String) throws(PrivateServerFailure) -> String {
        let line = Array("\(command)\n".utf8)
        guard Glibc.write(supervisor.standardInput, line, line.count) == line.count,
            let answer = SupervisedProcess.readLine(supervisor.standardOutput)
        else { throw PrivateServerFailure("the supervisor of PgBouncer has ended") }
        return answer
    }
}
