public import AMQP
import Glibc
import Synchronization

/// A RabbitMQ node of our own: its data, ports, name, cookie and port mapper are its own, the system's broker is
/// untouched.
///
/// A small shell supervises the node and holds the reading end of a pipe whose other end is ours. When this process
/// ends in any way, the shell kills the node and removes its folder.
///
/// Most tests share one node (`shared`), with a namespace each (`makeNamespace`); a test that stops, floods or kills
/// the broker starts its own.
public final class PrivateRabbitMQ: Sendable {
    /// Where the system's own programs are.
    public static let systemPrograms = "/usr/lib/rabbitmq/bin"
    /// The programs of a newer version to which nodes can be upgraded; nil if none are named.
    public static let nextPrograms = ServerPrograms.path(in: "APUS_RABBITMQ_NEXT_PROGRAMS")
    private static let defaultPrograms = ServerPrograms.path(in: "APUS_RABBITMQ_PROGRAMS") ?? systemPrograms
    private static let sharedNode = Task { try await PrivateRabbitMQ.start() }
    private static let namespaces = Atomic<Int>(0)

    /// The plugins that are enabled unless others are named, because Apus can use them.
    public static let standardPlugins = ["rabbitmq_consistent_hash_exchange"]

    /// The port of the plain listener, on 127.0.0.1.
    public let port: UInt16
    /// The port of the TLS listener, on 127.0.0.1, if a certificate was given.
    public let tlsPort: UInt16?

    private let folder: String
    private let environment: [String: String]
    private let supervisor: SupervisedProcess.Started
    private let nodeIdentifier = Mutex<pid_t>(0)
    private let programs: Mutex<String>
    private let isStopped = Mutex(false)

    /// The node that all tests of this process share, started on first use.
    public static func shared() async throws -> PrivateRabbitMQ { try await sharedNode.value }

    /// Starts a node and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - certificate: the certificate of the TLS listener; without one there is no listener.
    ///   - configuration: more lines of `rabbitmq.conf`.
    ///   - plugins: which plugins of RabbitMQ are enabled.
    ///   - programs: a folder with RabbitMQ's programs; nil for the one that all tests use.
    /// - Returns: the running node.
    /// - Throws: `PrivateServerFailure` if RabbitMQ is not installed (with the command that installs it) or does not
    ///   start.
    public static func start(
        certificate: RabbitMQCertificate? = nil, configuration: String = "",
        plugins: [String] = standardPlugins, programs: String? = nil
    ) async throws -> PrivateRabbitMQ {
        var attemptsLeft = 3
        while true {
            let node = try PrivateRabbitMQ(
                certificate: certificate, more: configuration, plugins: plugins, programs: programs)
            do {
                try await node.startAgain()
                return node
            } catch {
                attemptsLeft -= 1
                // Another process may have taken one of the ports; the next node has others.
                guard attemptsLeft > 0, node.hasEnded else { throw error }
                node.stop()
            }
        }
    }

    /// Prepares a node without starting it; `membership` is the common part of a cluster's nodes.
    init(
        certificate: RabbitMQCertificate?, more: String, membership: ClusterMembership? = nil,
        plugins: [String] = standardPlugins, programs: String? = nil
    ) throws(PrivateServerFailure) {
        let programs = programs ?? Self.defaultPrograms
        guard access("\(programs)/rabbitmq-server", X_OK) == 0, access("/usr/bin/epmd", X_OK) == 0 else {
            throw PrivateServerFailure("RabbitMQ is not installed; install it with: apt-get install rabbitmq-server")
        }
        var ports = try FreePorts.find(certificate == nil ? 4 : 5)
        if let membership { ports[2] = membership.mapperPort }
        port = ports[0]
        tlsPort = certificate == nil ? nil : ports[4]
        folder = try Self.makeFolder()
        self.programs = Mutex(programs)
        environment = Self.environment(folder: folder, ports: ports)
        var configuration = """
            listeners.tcp.default = 127.0.0.1:\(ports[0])
            disk_free_limit.absolute = 10MB
            log.console = false
            \(more)

            """
        if let certificate, let tlsPort {
            configuration += """
                listeners.ssl.default = 127.0.0.1:\(tlsPort)
                ssl_options.certfile = \(certificate.certificateFile)
                ssl_options.keyfile = \(certificate.keyFile)
                ssl_options.verify = verify_none

                """
        }
        try Self.write(configuration, to: "\(folder)/rabbitmq.conf", mode: 0o600)
        try Self.write("[\(plugins.joined(separator: ","))].\n", to: "\(folder)/enabled_plugins", mode: 0o600)
        try Self.write(
            membership?.advancedConfiguration ?? "[].\n", to: "\(folder)/advanced.config", mode: 0o600)
        let cookie = membership?.cookie ?? "\(UInt64.random(in: 0 ... .max))"
        try Self.write(cookie, to: "\(folder)/home/.erlang.cookie", mode: 0o400)
        supervisor = try SupervisedProcess.start(
            ["/bin/sh", "-c", Self.supervisorScript], environment: environment)
    }

    deinit { stop() }

    // MARK: Use

    /// The name of the node in a cluster.
    public var nodeName: String { Self.nodeName(port: port) }

    /// The process of the Erlang machine.
    public var processIdentifier: Int32 { nodeIdentifier.withLock(\.self) }

    /// The address of the plain listener, with the default user.
    public var url: String { "amqp://guest:guest@127.0.0.1:\(port)/" }

    /// A namespace that no other test of this process has.
    public static func makeNamespace() -> String { "t\(namespaces.add(1, ordering: .relaxed).newValue)" }

    /// Runs `rabbitmqctl` against the node.
    ///
    /// - Parameter arguments: for example `["list_queues", "name", "messages"]`.
    /// - Returns: its output.
    /// - Throws: `PrivateServerFailure` with its output, if it failed.
    @discardableResult
    public func control(_ arguments: String...) async throws -> String { try await control(arguments) }

    /// Runs `rabbitmqctl` on the node, as the other form does.
    @discardableResult
    public func control(_ arguments: [String]) async throws -> String {
        let program = "\(programs.withLock(\.self))/rabbitmqctl"
        let result = try await SupervisedProcess.run([program, "--quiet"] + arguments, environment: environment)
        guard result.status == 0 else {
            throw PrivateServerFailure("rabbitmqctl \(arguments.joined(separator: " ")) failed: \(result.output)")
        }
        return result.output
    }

    /// Evaluates an Erlang expression on the node, for what `rabbitmqctl` has no command for.
    @discardableResult
    public func evaluate(_ expression: String) async throws -> String { try await control("eval", expression) }

    /// Removes the bindings from an exchange of the virtual host `/`, as a broker that has lost them.
    public func removeBindings(from exchange: String) async throws {
        try await evaluate(
            """
            [ok = rabbit_binding:remove(B, <<"tests">>) || B <-
            rabbit_binding:list_for_source(rabbit_misc:r(<<"/">>, exchange, <<"\(exchange)">>))], ok.
            """)
    }

    /// The number of messages of a quorum queue, including unacknowledged ones.
    ///
    /// The queue itself is asked, because what RabbitMQ's tools say is up to five seconds old. While it elects a leader
    /// and while the node pauses itself in a minority, it is asked again, for a minute.
    ///
    /// - Parameter queue: the name, in the virtual host `/`.
    /// - Returns: the number after everything that was acknowledged or published before.
    /// - Throws: `PrivateServerFailure` if there is no such queue, `DeadlineExceeded` if its leader does not answer.
    public func messageCount(queue: String) async throws -> Int {
        let name = "rabbit_misc:r(<<\"/\">>, queue, <<\"\(queue)\">>)"
        let expression = """
            try
                {ok, Q} = rabbit_amqqueue:lookup(\(name)),
                {ok, N, _} = ra:consistent_query(amqqueue:get_pid(Q), {rabbit_fifo, query_messages_total, []}),
                N
            catch
                error:{badmatch, {error, not_found}} -> no_queue;
                _:_ -> no_answer
            end.
            """
        let text = try await eventually("an answer of \(queue)", within: .seconds(60)) {
            try await evaluate(expression)
        } until: {
            !$0.contains("no_answer")
        }
        guard let count = Int(text.filter(\.isNumber)) else { throw PrivateServerFailure("no count in: \(text)") }
        return count
    }

    /// The version that runs, for what a test expects of some versions only.
    public func version() async throws -> AMQPServer.Version {
        let text = try await control("version")
        guard let version = AMQPServer.Version(text) else { throw PrivateServerFailure("no version: \(text)") }
        return version
    }

    // MARK: Faults

    /// Writes out which queues and bindings there are, which RabbitMQ 3.x does up to two seconds later.
    ///
    /// After a kill a quorum queue that was declared just before never finds a leader again, and a binding is gone:
    /// Mnesia's log holds back what it writes (issues 1873 and 13029 of rabbitmq-server). A test that kills the node
    /// calls this before, unless it tests just that.
    public func writeOutMetadata() async throws {
        try await evaluate("[dets:sync(T) || T <- dets:all()], catch mnesia:sync_log(), ok.")
    }

    /// Stops the node's process as it stands (SIGSTOP): connections stay open and nothing answers.
    public func pause() { signal(SIGSTOP) }

    /// Lets a paused node run on (SIGCONT).
    public func resume() { signal(SIGCONT) }

    /// Kills the node (SIGKILL) and waits until it is gone; its data stays.
    public func kill() throws(PrivateServerFailure) { _ = try ask("kill") }

    /// Starts a killed node again, on the same data and ports, and waits until it accepts connections.
    ///
    /// - Parameter programs: a folder with the programs of a newer version, by which the node goes on; nil for those
    ///   that it was started with.
    /// - Throws: `PrivateServerFailure` with what RabbitMQ said, if it does not start.
    public func startAgain(with programs: String? = nil) async throws {
        let log = "\(folder)/node.out"
        unlink(log)
        if let programs { self.programs.withLock { $0 = programs } }
        let answer = try ask("start \(self.programs.withLock(\.self))")
        guard let identifier = pid_t(answer) else { throw PrivateServerFailure("the supervisor said: \(answer)") }
        nodeIdentifier.withLock { $0 = identifier }
        try await eventually("RabbitMQ to start", within: .seconds(120)) {
            guard !hasEnded else { throw PrivateServerFailure("RabbitMQ did not start: \(Self.read(log))") }
            return Self.read(log)
        } until: {
            $0.contains("completed with")
        }
    }

    /// Whether the node's process is gone, or only waits to be buried.
    private var hasEnded: Bool {
        let state = Self.read("/proc/\(processIdentifier)/stat").split(separator: ") ").last?.first
        return state == nil || state == "Z"
    }

    /// Ends the node, its supervisor and everything that they left.
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

    private func signal(_ number: Int32) {
        if processIdentifier > 0 { _ = Glibc.kill(processIdentifier, number) }
    }

    private func ask(_ command: String) throws(PrivateServerFailure) -> String {
        let line = Array("\(command)\n".utf8)
        guard Glibc.write(supervisor.standardInput, line, line.count) == line.count,
            let answer = SupervisedProcess.readLine(supervisor.standardOutput)
        else { throw PrivateServerFailure("the supervisor of the RabbitMQ node has ended") }
        return answer
    }

    /// The number of messages of each quorum queue of a namespace, including unacknowledged ones.
    ///
    /// The queues themselves are asked, as `messageCount(queue:)` does, all in one call: a call takes about a second.
    ///
    /// - Parameter namespace: how the names of the queues begin, before a dot; in the virtual host `/`.
    /// - Returns: the numbers by name; -1 for a queue that has no leader to ask.
    /// - Throws: `PrivateServerFailure` if the node does not answer.
    public func messageCounts(namespace: String) async throws -> [String: Int] {
        let text = try await evaluate(Self.countsExpression(namespace: namespace))
        return Self.counts(in: text)
    }

    static func countsExpression(namespace: String) -> String {
        """
        Count = fun(Q) -> try ra:consistent_query(amqqueue:get_pid(Q), {rabbit_fifo, query_messages_total, []}) of
            {ok, N, _} -> N; _ -> -1 catch _:_ -> -1 end end,
        Name = fun(Q) -> element(4, amqqueue:get_name(Q)) end,
        [io:format("~s=~b;", [Name(Q), Count(Q)]) || Q <- rabbit_amqqueue:list(),
            string:prefix(Name(Q), <<"\(namespace).">>) =/= nomatch], ok.
        """
    }

    static func counts(in text: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        for pair in text.split(separator: ";") {
            let parts = pair.split(separator: "=")
            if parts.count == 2, let count = Int(parts[1]) { counts[String(parts[0])] = count }
        }
        return counts
    }
}
