import Crypto
import Foundation
import PushTestKit

/// A temporary folder with a key and a certificate, and the programs that scenarios start in it.
final class Workbench {
    /// The certificate of the simulator of a second app.
    static let otherAnchor = "other-anchor.pem"
    static let bundleID = "com.example.chat"

    let options: BenchmarkOptions
    let temporary: TemporaryFolder
    /// A folder in memory, for what is written only to measure: a disk that is busy must not delay who writes it.
    let memoryFolder: String
    let key: ES256PrivateKey

    init(options: BenchmarkOptions) throws {
        self.options = options
        let folders = Self.folders(of: getpid())
        memoryFolder = folders.memory
        temporary = try TemporaryFolder(at: folders.disk)
        try FileManager.default.createDirectory(atPath: memoryFolder, withIntermediateDirectories: true)
        key = try ES256PrivateKey.generate()
        try write("key.p8", key.pem)
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost", "127.0.0.1"], notBeforeSeconds: now - 60, notAfterSeconds: now + 86_400)
        try write("server.pem", identity.certificateChainPEM)
        try write("server.key", identity.privateKeyPEM)
    }

    /// The path of the folder.
    var folder: String { temporary.path }

    private static func folders(of process: Int32) -> (disk: String, memory: String) {
        (NSTemporaryDirectory() + "apus-bench-\(process)", "/dev/shm/apus-bench-\(process)")
    }

    /// Removes what the workbench of a process, which may have been killed, has left.
    static func removeFolders(of process: Int32) {
        let folders = folders(of: process)
        for folder in [folders.disk, folders.memory] { try? FileManager.default.removeItem(atPath: folder) }
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try temporary.write(name, text) }

    /// Runs a program to its end in the folder, for as long as it takes.
    func run(_ path: String, _ arguments: [String]) async throws -> CommandResult {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchmarkFailure(description: "\(path) is missing; run 'deploy/bin/install-packages bench'")
        }
        return await (try RunningCommand(program: path, arguments, in: temporary)).end()
    }

    /// Moves this process to one processor, and with it all that it will start.
    func move(toProcessor processor: Int) async throws {
        let moved = try await run("/usr/bin/taskset", ["-a", "-c", "-p", "\(processor)", "\(getpid())"])
        guard moved.exitCode == 0 else {
            throw BenchmarkFailure(description: "two processors are needed: \(moved.output)\(moved.errors)")
        }
    }

    /// Runs a command of `apus` to its end in the folder.
    func apus(_ arguments: String...) async throws {
        let end = try await run(CommandRunner.apusPath, arguments)
        guard end.exitCode == 0 else {
            throw BenchmarkFailure(
                description: "apus \(arguments.joined(separator: " ")) failed: \(end.output)\(end.errors)")
        }
    }

    /// Starts the simulator, and waits until it listens.
    ///
    /// - Parameters:
    ///   - arguments: further arguments.
    ///   - anchor: the file of the folder that gets its certificate.
    /// - Returns: the simulator.
    /// - Throws: an error with its output if it does not start.
    func startSimulator(_ arguments: [String], anchor: String = "anchor.pem") async throws -> SimulatorProcess {
        try await SimulatorProcess.start(in: temporary, anchor: anchor, arguments)
    }

    /// A file of the folder with this many bytes of payload.
    func payload(bytes count: Int) throws -> (path: String, bytes: [UInt8]) {
        let frame = #"{"aps":{"alert":""}}"#
        let text = #"{"aps":{"alert":"\#(String(repeating: "x", count: count - frame.utf8.count))"}}"#
        return (try write("payload-\(count)", text), Array(text.utf8))
    }
}

extension Workbench {
    /// Writes `apus.toml` for a worker between this broker and this simulator.
    ///
    /// - Parameters:
    ///   - broker: its address.
    ///   - simulatorPort: where the simulator listens.
    ///   - registryURL: the registry.
    ///   - workQueues: over how many queues the events are spread.
    ///   - otherPort: where the simulator of a second app listens; nil for one app alone.
    ///   - connections: how many connections a worker has, no more and no less; nil to let it decide.
    ///   - outcomes: the outcomes that the backend of the first app wants to hear.
    ///   - events: the lines of the section `events`; nil for a worker's defaults.
    /// - Throws: if the file cannot be written.
    func writeConfiguration(
        broker: String, simulatorPort: UInt16, registryURL: String, workQueues: Int = 1, otherPort: UInt16? = nil,
        connections: Int? = nil, outcomes: [String] = [], events: String? = nil
    ) throws {
        var app = TestConfiguration.App(endpoint: "127.0.0.1:\(simulatorPort)")
        app.outcomes = outcomes
        app.more = connections.map { "connections = \($0)\nconnections_max = \($0)" } ?? ""
        var configuration = TestConfiguration(brokerURLs: [broker], apps: [app])
        configuration.broker = "work_queues = \(workQueues)"
        configuration.registryURL = registryURL
        configuration.retry = ""
        if let events { configuration.sections += "[events]\n\(events)\n" }
        if let otherPort {
            var other = TestConfiguration.App(endpoint: "127.0.0.1:\(otherPort)")
            (other.name, other.bundleID, other.pools) = ("other", "com.example.other", [])
            other.anchor = Self.otherAnchor
            configuration.apps.append(other)
        }
        try write("apus.toml", configuration.text)
    }

    /// The registry in a file of the folder.
    func registryURL(_ file: String) -> String { "sqlite:\(folder)/\(file)" }

    /// Imports devices into a registry of the folder; device n gets the identity that `identity` says.
    func importDevices(_ count: Int, into registry: String, identity: (Int) -> Int) async throws {
        try await importDevices(count, intoRegistry: registryURL(registry), identity: identity)
    }

    /// The same for any registry.
    func importDevices(_ count: Int, intoRegistry url: String, identity: (Int) -> Int) async throws {
        try await importLines(count, intoRegistry: url) { RegisteredDevice.line($0, identity: identity($0)) }
    }

    /// Imports devices by lines for `apus device import`, each of which `line` makes from a number.
    func importLines(_ count: Int, intoRegistry url: String, line: (Int) -> String) async throws {
        let path = folder + "/devices.ndjson"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw BenchmarkFailure(description: "cannot write \(path)")
        }
        for start in stride(from: 0, to: count, by: 10_000) {
            let lines = (start..<min(count, start + 10_000)).map(line)
            try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        }
        try file.close()
        try await apus("device", "import", "--set", "registry.url=\(url)", path)
    }
}
