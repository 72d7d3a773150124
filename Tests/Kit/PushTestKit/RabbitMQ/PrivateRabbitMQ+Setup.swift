import Glibc

extension PrivateRabbitMQ {
    /// Runs commands from its standard input, and cleans up when that ends.
    ///
    /// The node's pid is that of the Erlang machine itself (`detached` makes the start script replace itself with it),
    /// so a signal reaches it directly.
    static let supervisorScript = """
        epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 </dev/null >/dev/null 2>&1 &
        mapper=$!
        node=
        finish() { [ -z "$node" ] || { kill -9 "$node"; wait "$node"; node=; } 2>/dev/null; }
        while read -r command folder; do
            case "$command" in
            start)
                detached=true "$folder/rabbitmq-server" </dev/null >"$APUS_FOLDER/node.out" 2>&1 &
                node=$!
                echo "$node" ;;
            kill)
                finish
                echo killed ;;
            esac
        done
        finish
        { kill -9 "$mapper"; wait "$mapper"; } 2>/dev/null
        rm -rf "$APUS_FOLDER"
        """

    /// The environment of a private node: every path, port and name that the system's broker has, too.
    static func environment(folder: String, ports: [UInt16]) -> [String: String] {
        [
            "APUS_FOLDER": folder,
            "TMPDIR": ServerPrograms.path(in: "TMPDIR") ?? "/tmp",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": "\(folder)/home",
            "ERL_CRASH_DUMP": "\(folder)/erl_crash.dump",
            "ERL_EPMD_PORT": "\(ports[2])",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": nodeName(port: ports[0]),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": "\(ports[0])",
            "RABBITMQ_DIST_PORT": "\(ports[1])",
            "RABBITMQ_CTL_DIST_PORT_MIN": "\(ports[3])",
            "RABBITMQ_CTL_DIST_PORT_MAX": "\(ports[3].addingReportingOverflow(40).partialValue)",
            "RABBITMQ_MNESIA_BASE": "\(folder)/data",
            "RABBITMQ_LOG_BASE": "\(folder)/log",
            "RABBITMQ_CONFIG_FILE": "\(folder)/rabbitmq.conf",
            "RABBITMQ_CONFIG_FILES": "\(folder)/conf.d",
            "RABBITMQ_ADVANCED_CONFIG_FILE": "\(folder)/advanced.config",
            "RABBITMQ_CONF_ENV_FILE": "\(folder)/rabbitmq-env.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "\(folder)/enabled_plugins",
            "RABBITMQ_GENERATED_CONFIG_DIR": "\(folder)/generated",
            "RABBITMQ_PID_FILE": "\(folder)/pid",
        ]
    }

    static func nodeName(port: UInt16) -> String { "apus-\(port)@localhost" }

    static func makeFolder() throws(PrivateServerFailure) -> String {
        let folder = try TemporaryFolder.makeUnowned(for: "rabbitmq")
        for name in ["home", "data", "log", "conf.d", "generated"] { mkdir("\(folder)/\(name)", 0o700) }
        return folder
    }

    static func write(_ text: String, to path: String, mode: mode_t) throws(PrivateServerFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        defer { if descriptor >= 0 { close(descriptor) } }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw PrivateServerFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// The whole of a small file, or nothing if it is not there.
    static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer[0..<max(0, count)], as: UTF8.self)
    }
}
