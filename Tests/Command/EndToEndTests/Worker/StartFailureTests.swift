import Crypto
import Glibc
import PushTestKit
import Testing

/// Every unit of systemd has `RestartPreventExitStatus=78`: with another code the service is started again.
@Suite("A start that fails for now", .timeLimit(.minutes(10)))
struct StartFailureTests {
    /// The codes after which the same command may succeed later.
    private static let passing: Set<Int32> = [69, 75]
    /// The commands of the units, with options that lead to a port that another program has.
    private static let commands = ["run", "registry", "webhooks", "analytics"]

    private let folder: TemporaryFolder
    /// A port on which another program listens, and one on which none does.
    private let ports: (taken: UInt16, free: UInt16)
    private let listener: BoundPort

    init() throws {
        folder = try TemporaryFolder()
        listener = try BoundPort()
        ports = (listener.port, try FreePorts.find(1)[0])
        try folder.write("key.p8", ES256PrivateKey.generate().pem)
        var app = TestConfiguration.App(endpoint: "127.0.0.1:\(ports.free)")
        app.outcomes = ["all"]
        app.anchor = "anchor.pem"
        app.sections =
            "[app.webhook]\nurl = \"https://127.0.0.1/\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\""
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_700_000_000, notAfterSeconds: 4_000_000_000)
        try folder.write("anchor.pem", identity.certificateChainPEM)
        var configuration = TestConfiguration(brokerURLs: ["amqp://guest:guest@127.0.0.1:\(ports.free)"], apps: [app])
        configuration.sections = "[analytics]\nenabled = true"
        try folder.write("apus.toml", configuration.text)
    }

    /// Starts a command whose last step is a port that is taken.
    private func start(
        _ command: String, prefix: [String] = [], environment: [String: String] = [:], more: [String] = []
    ) async throws -> CommandResult {
        let address = "127.0.0.1:\(ports.taken)"
        let options: [String]
        switch command {
        case "run": options = ["--set", "registry.listen=127.0.0.1:0", "--set", "admin.listen=\(address)"]
        case "registry": options = ["--set", "registry.listen=127.0.0.1:0", "--set", "admin.listen=\(address)"]
        default: options = ["--listen", address]
        }
        let words = prefix + [CommandRunner.apusPath, command] + options + more
        return try await CommandRunner.run(words[0], Array(words.dropFirst()), environment: environment, in: folder)
    }

    @Test("A port that another program has is such a failure, and the text names it", arguments: commands)
    func portTaken(command: String) async throws {
        let result = try await start(command)
        #expect(result.exitCode == 69 && result.errors.contains("127.0.0.1:\(ports.taken)"), "\(result)")
    }

    @Test("So is a system without threads, whichever thread is the first that is refused", arguments: commands)
    func noThreads(command: String) async throws {
        let report = folder.path + "/refused"
        var refusedCount = 0
        while refusedCount < 64 {
            try folder.write("refused", "")
            let result = try await start(
                command, environment: CallFault.withoutThreads(from: refusedCount + 1, report: report))
            #expect(Self.passing.contains(result.exitCode), "thread \(refusedCount + 1): \(result)")
            if try folder.read("refused").isEmpty { break }
            refusedCount += 1
        }
        #expect((3..<64).contains(refusedCount), "the command starts \(refusedCount) threads")
    }

    @Test("So is a process without descriptors", arguments: commands)
    func noDescriptors(command: String) async throws {
        for limit in stride(from: 8, through: 40, by: 4) {
            let result = try await start(command, prefix: ["/usr/bin/prlimit", "--nofile=\(limit)"])
            // Swift's runtime ends a process by a signal if it gets none for itself; systemd starts it again, too.
            #expect(Self.passing.contains(result.exitCode) || result.exitCode > 128, "\(limit) descriptors: \(result)")
        }
    }

    @Test("So is a file that cannot be read for now; one that is not there is a wrong configuration")
    func filesForNow() async throws {
        for file in ["apus.toml", "key.p8", "anchor.pem"] {
            let fault = CallFault(.read, on: .file(file), as: .broken, occurrence: 1, times: 1_000)
            let result = try await start("run", environment: fault.environment(report: folder.path + "/report"))
            #expect(result.exitCode == 75 && result.errors.contains("Input/output error"), "\(file): \(result)")
        }
        try folder.remove("key.p8")
        #expect(try await start("run").exitCode == 78)
    }

    @Test("So is a name that the resolver does not know yet: of the broker, of the registry, of the own address")
    func unknownNames() async throws {
        let settings = [
            ["--set", "worker.declare_topology=true", "--set", "rabbitmq.url=amqp://guest:guest@broker.invalid:5672"],
            ["--set", "registry.url=postgresql://apus@database.invalid/apus"],
            ["--set", "registry.listen=own.invalid:8080", "--set", "registry.insecure=true"],
        ]
        for setting in settings {
            let result = try await start("run", more: setting + ["--set", "admin.listen=127.0.0.1:0"])
            #expect(Self.passing.contains(result.exitCode), "\(setting): \(result)")
            #expect(result.errors.contains(".invalid"), "\(setting): \(result)")
        }
    }

    @Test("So are queues that 'apus topology apply' has not made yet", arguments: ["webhooks", "analytics"])
    func noQueues(command: String) async throws {
        let broker = try await PrivateRabbitMQ.shared()
        let result = try await CommandRunner.apus(
            [
                command, "--set", "rabbitmq.url=\(broker.url)", "--set",
                "rabbitmq.namespace=\(PrivateRabbitMQ.makeNamespace())",
            ], in: folder)
        #expect(result.exitCode == 69 && result.errors.contains("run `apus topology apply` first"), "\(result)")
    }

    @Test("Where the log is JSON, each line of a start is JSON, but the reason that ends it", arguments: commands)
    func warningsAreJSON(command: String) async throws {
        for name in ["apus.toml", "key.p8"] { chmod("\(folder.path)/\(name)", 0o644) }
        let result = try await start(command)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.last?.hasPrefix("apus \(command): ") == true, "\(result)")
        for line in lines.dropLast() { #expect(line.hasPrefix("{") && line.hasSuffix("}"), "\(line)") }
        guard command == "run" else { return }
        let warning = #""config.warning","reason":"apus.toml:"#
        #expect(lines.contains { $0.contains(warning) && $0.contains("chmod 600 key.p8") }, "\(result)")
    }
}

/// A TCP port of this machine on which somebody listens, and answers nothing.
private final class BoundPort: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                bind(descriptor, pointer.baseAddress, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, pointer.baseAddress, &length) == 0
            }
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        try #require(isBound)
    }

    deinit { close(descriptor) }
}
