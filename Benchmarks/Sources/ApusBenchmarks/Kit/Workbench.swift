import Crypto
import Foundation

/// A temporary folder with a key and a certificate, and the programs that scenarios start in it.
final class Workbench {
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"
    /// The certificate of the simulator of a second app.
    static let otherAnchor = "other-anchor.pem"
    static let bundleID = "com.example.chat"
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    let options: BenchmarkOptions
    let folder: String
    /// A folder in memory, for what is written only to measure: a disk that is busy must not delay who writes it.
    let memoryFolder: String
    let key: ES256PrivateKey

    init(options: BenchmarkOptions) throws {
        self.options = options
        (folder, memoryFolder) = Self.folders(of: getpid())
        for folder in [folder, memoryFolder] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        key = try ES256PrivateKey.generate()
        try write("key.p8", key.pem)
        chmod(folder + "/key.p8", 0o600)
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost", "127.0.0.1"], notBeforeSeconds: now - 60, notAfterSeconds: now + 86_400)
        try write("server.pem", identity.certificateChainPEM)
        try write("server.key", identity.privateKeyPEM)
    }

    private static func folders(of process: Int32) -> (disk: String, memory: String) {
        (NSTemporaryDirectory() + "apus-bench-\(process)", "/dev/shm/apus-bench-\(process)")
    }

    /// Removes what the workbench of a process, which may have been killed, has left.
    static func removeFolders(of process: Int32) {
        let folders = folders(of: process)
        for folder in [folders.disk, folders.memory] { try? FileManager.default.removeItem(atPath: folder) }
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        return "\(folder)/\(name)"
    }

    /// Runs a command of `apus` to its end in the folder.
    func apus(_ arguments: String...) throws {
        let result = try ChildProcess.run(options.apusPath, arguments + ["--config", folder + "/apus.toml"])
        guard result.status == 0 else {
            throw ChildProcess.Failure(description: "apus \(arguments.joined(separator: " ")) failed: \(result.output)")
        }
    }

    /// Starts the simulator, and waits until it listens.
    ///
    /// - Parameters:
    ///   - arguments: what else it is told.
    ///   - anchor: the file of the folder that gets its certificate.
    /// - Returns: the process, and where it listens.
    /// - Throws: `ChildProcess.Failure` if it does not start.
    func startSimulator(
        _ arguments: [String], anchor: String = "anchor.pem"
    ) throws -> (process: ChildProcess, port: UInt16) {
        let process = try ChildProcess(
            options.apusPath,
            [
                "simulate", "--listen", "127.0.0.1:0", "--ca-out", "\(folder)/\(anchor)", "--key-file",
                folder + "/key.p8", "--key-id", Self.keyID, "--team-id", Self.teamID,
            ] + arguments)
        let line = try process.firstLine()
        let digits = line.split(separator: "127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
        guard let port = UInt16(digits) else {
            throw ChildProcess.Failure(description: "the simulator did not start: \(line) \(process.errors)")
        }
        return (process, port)
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
    ///   - registry: the file of the registry, in the folder.
    ///   - workQueues: over how many queues the events are spread.
    ///   - otherPort: where the simulator of a second app listens; nil for one app alone.
    ///   - connections: how many connections a worker has, no more and no less; nil for what it does by itself.
    /// - Throws: if the file cannot be written.
    func writeConfiguration(
        broker: String, simulatorPort: UInt16, registry: String, workQueues: Int = 1, otherPort: UInt16? = nil,
        connections: Int? = nil
    ) throws {
        try write(
            "apus.toml",
            """
            [rabbitmq]
            url = "\(broker)"
            work_queues = \(workQueues)
            [registry]
            url = "sqlite:\(folder)/\(registry)"
            [log]
            format = "json"
            [[app]]
            name = "chat"
            bundle_id = "\(Self.bundleID)"
            identity_pools = ["\(Self.pool)"]
            [app.apns]
            key_file = "key.p8"
            key_id = "\(Self.keyID)"
            team_id = "\(Self.teamID)"
            endpoint = "127.0.0.1:\(simulatorPort)"
            ca_file = "anchor.pem"
            \(connections.map { "connections = \($0)\nconnections_max = \($0)" } ?? "")
            \(otherApp(port: otherPort))
            """)
    }

    /// A second app, with an endpoint of its own; empty without one.
    private func otherApp(port: UInt16?) -> String {
        guard let port else { return "" }
        return """
            [[app]]
            name = "other"
            bundle_id = "com.example.other"
            [app.apns]
            key_file = "key.p8"
            key_id = "\(Self.keyID)"
            team_id = "\(Self.teamID)"
            endpoint = "127.0.0.1:\(port)"
            ca_file = "\(Self.otherAnchor)"
            """
    }

    /// Imports devices into a registry of the folder; device n gets the identity that `identity` says.
    func importDevices(_ count: Int, into registry: String, identity: (Int) -> Int) throws {
        let path = folder + "/devices.ndjson"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw ChildProcess.Failure(description: "cannot write \(path)")
        }
        for start in stride(from: 0, to: count, by: 10_000) {
            let lines = (start..<min(count, start + 10_000)).map { RegisteredDevice.line($0, identity: identity($0)) }
            try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        }
        try file.close()
        let result = try ChildProcess.run(
            options.apusPath, ["device", "import", "--set", "registry.url=sqlite:\(folder)/\(registry)", path])
        guard result.status == 0 else {
            throw ChildProcess.Failure(description: "apus device import failed: \(result.output)")
        }
    }
}
