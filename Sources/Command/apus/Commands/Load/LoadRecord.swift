import APNsSimulator
import EventLoop
import Glibc
import PushServiceSimulator
import Synchronization
import WorkerConfiguration

/// Where the record of the pushes comes from: a simulator of APNs in this process, or the file of another one.
///
/// Either way it is read on a loop of its own, and times are those of this machine's clock.
final class LoadRecord: Sendable {
    typealias Handler = @Sendable ([UInt8]) -> Void

    /// How long a file rests before it is read again, in nanoseconds.
    private static let pollNanoseconds: UInt64 = 50_000_000

    private let loop: EventLoop
    private let handler = Mutex<Handler?>(nil)
    private let simulator = Mutex<APNsSimulator?>(nil)

    private init() throws { loop = try EventLoop(name: "load-record") }

    /// Passes all further bytes of the record to a handler, on the loop of the record.
    func read(_ handler: @escaping Handler) { self.handler.withLock { $0 = handler } }

    /// Ends the simulator and the reading.
    func stop() async {
        let simulator = simulator.withLock { $0.take() }
        _ = try? await simulator?.stop()
        loop.stopAndJoin()
    }

    private func pass(_ bytes: [UInt8]) { handler.withLock { $0 }?(bytes) }

    // MARK: A simulator of its own

    /// Starts a simulator where the configuration's workers look for APNs.
    ///
    /// It accepts the configured key. Its certificate is written to `ca_file` and used again by later runs, so that a
    /// worker may go on running.
    static func simulate(_ target: LoadTarget) async throws -> LoadRecord {
        let apns = target.apns
        guard target.endpoint.isLoopback else {
            throw CommandFailure.usage(
                "the push service \(target.endpoint) is on another machine: run 'apus simulate --record FILE' there, "
                    + "or a simulator here, and load with --record FILE")
        }
        guard let anchorFile = apns.caFile else {
            throw CommandFailure(
                .configuration,
                "ca_file of the app \"\(target.app.name)\" is empty, so no worker would trust the simulator; set it, "
                    + "for example to ca.pem, which is then written")
        }
        let record = try LoadRecord()
        do {
            var configuration = SimulatorConfiguration()
            configuration.host = target.endpoint.host
            configuration.port = target.endpoint.port
            configuration.teamKeys = try teamKeys(target.configuration)
            configuration.identity = try LoadIdentity.prepare(anchorFile: anchorFile)
            configuration.recordHandler = { bytes in record.loop.submit { record.pass(bytes) } }
            let simulator = try await APNsSimulator.start(configuration)
            record.simulator.withLock { $0 = simulator }
        } catch let error as SimulatorError {
            record.loop.stopAndJoin()
            let hint =
                error.code == .listenFailed
                ? "; if 'apus simulate --record FILE' serves there, give its file with --record" : ""
            throw CommandFailure(error.code == .listenFailed ? .unavailable : .configuration, error.message + hint)
        } catch {
            record.loop.stopAndJoin()
            throw error
        }
        return record
    }

    /// The keys of all apps; a key file that is missing is made, since nobody but this simulator has to know the key.
    private static func teamKeys(_ configuration: Configuration) throws -> [SimulatorConfiguration.TeamKey] {
        try configuration.apps.compactMap(\.apns).map { apns in
            if access(apns.keyFile, F_OK) != 0 {
                try SimulateFiles.writeSecret(try SimulatorKey.makePrivateKeyPEM(), to: apns.keyFile)
                StandardError.line("made the key \(apns.keyFile), which only simulators accept")
            }
            let publicKey = try SimulatorKey.publicKeyPEM(in: try SimulateFiles.read(apns.keyFile))
            return SimulatorConfiguration.TeamKey(
                teamID: apns.teamID, keyID: apns.keyID, publicKeyPEM: publicKey)
        }
    }

    // MARK: The file of another simulator

    /// Follows the file of a running simulator, from its present end.
    static func follow(_ path: String) async throws -> LoadRecord {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .noInput,
                "cannot read \(path): \(String(cString: strerror(errno))); start the simulator with --record \(path)")
        }
        let record = try LoadRecord()
        let end = max(0, lseek(descriptor, 0, SEEK_END))
        try await record.loop.run {
            record.poll(LoadRecordFile(descriptor: descriptor, offset: end))
        }
        return record
    }

    private func poll(_ file: LoadRecordFile) {
        while let bytes = file.next() { pass(bytes) }
        loop.schedule(afterNanoseconds: Self.pollNanoseconds) { [weak self] in self?.poll(file) }
    }
}

/// A growing file that is read from an offset.
private final class LoadRecordFile {
    private static let readBytes = 1 << 18

    private let descriptor: Int32
    private var offset: Int
    private var buffer = [UInt8](repeating: 0, count: readBytes)

    init(descriptor: Int32, offset: Int) {
        self.descriptor = descriptor
        self.offset = offset
    }

    deinit { close(descriptor) }

    /// The next bytes; nil if there are none yet.
    func next() -> [UInt8]? {
        let count = pread(descriptor, &buffer, buffer.count, offset)
        if count == 0 {
            // A simulator that was started again has emptied the file.
            let end = lseek(descriptor, 0, SEEK_END)
            if end < offset { offset = 0 }
            return nil
        }
        guard count > 0 else { return nil }
        offset += count
        return Array(buffer[..<count])
    }
}
