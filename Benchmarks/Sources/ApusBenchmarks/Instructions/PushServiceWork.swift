import APNsSimulator
import APNsTransport
import ConnectionPool
import Crypto
import Dispatch
import EventLoop
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import StructuredLogging
import Synchronization

/// Sends pushes from the client to the simulator of APNs, each on a thread of its own, over TLS.
///
/// A batch of pushes is sent when all of the one before are answered. It fits one record of TLS, so both sides read and
/// write the same bytes at once in every run, whichever thread is faster. The last batch before a mark belongs to the
/// mark: the simulator's thread sets it when it reads the clock for the first push of that batch.
final class PushServiceWork: CountedWork {
    private let simulator: APNsSimulator
    private let client: APNsClient
    private let load: BatchLoad
    private let simulatorMark: WantedMark

    init(_ folder: TemporaryFolder, total: Int) throws {
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.maxUnauthenticatedStreams = 1_000
        configuration.teamKeys = [
            .init(
                teamID: SimulatorProcess.teamID, keyID: SimulatorProcess.keyID, publicKeyPEM: key.publicKeyPEM)
        ]
        let mark = WantedMark()
        simulatorMark = mark
        configuration.wallClockMilliseconds = {
            mark.setIfWanted()
            return WallClock.nowMilliseconds()
        }
        simulator = try Self.start(configuration)
        var limits = PoolLimits()
        (limits.connections, limits.connectionsMaximum) = (1, 1)
        let route = try APNsRoute(
            app: "chat", environment: .production, endpoint: "127.0.0.1:\(simulator.port)",
            extraTrustAnchorsFile: try folder.write("anchor.pem", simulator.trustAnchorPEM),
            tokenSource: try Self.tokenSource(key), limits: limits)
        var clientConfiguration = APNsClientConfiguration(routes: [route])
        clientConfiguration.seed = 1
        client = try APNsClient(configuration: clientConfiguration, logger: .silent, metrics: MetricsRegistry())
        load = BatchLoad(client, total: total)
        client.start(handler: load)
    }

    /// Makes a source whose token takes the same room on the wire in every run.
    ///
    /// A signature has other letters in every run, and HPACK gives a letter 5 to 8 bits (RFC 7541, appendix B). The
    /// token goes with each push, so this sum would be seen in all figures.
    private static func tokenSource(_ key: ES256PrivateKey) throws -> ProviderTokenSource {
        while true {
            let source = try ProviderTokenSource(
                key: key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
            // About one in twenty has this sum, which is the most frequent.
            if try source.token().headerValue.map(bitsInHPACK).reduce(0, +) == 1_219 { return source }
        }
    }

    /// How many bits HPACK gives a letter of a provider token.
    private static func bitsInHPACK(_ letter: UInt8) -> Int {
        switch Character(UnicodeScalar(letter)) {
        case "0"..."2", "a", "c", "e", "i", "o", "s", "t": 5
        case " ", "-", ".", "3"..."9", "A", "_", "b", "d", "f", "g", "h", "l", "m", "n", "p", "r", "u": 6
        case "X", "Z": 8
        default: 7
        }
    }

    private static func start(_ configuration: SimulatorConfiguration) throws -> APNsSimulator {
        let started = Mutex<Result<APNsSimulator, any Error>?>(nil)
        let semaphore = DispatchSemaphore(value: 0)
        Task {
            do {
                let simulator = try await APNsSimulator.start(configuration)
                started.withLock { $0 = .success(simulator) }
            } catch {
                started.withLock { $0 = .failure(error) }
            }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = started.withLock({ $0 }) else { preconditionFailure("it has started, or has failed to") }
        return try result.get()
    }

    func perform(_ count: Int) throws {
        try send(count - BatchLoad.batch)
    }

    func mark() throws {
        simulatorMark.want()
        try send(BatchLoad.batch)
        let isSet = DispatchSemaphore(value: 0)
        client.loop.submit {
            InstructionMark.set()
            isSet.signal()
        }
        isSet.wait()
        guard !simulatorMark.isWanted else { throw BenchmarkFailure(description: "the simulator read no clock") }
    }

    private func send(_ count: Int) throws {
        let accepted = load.run(count)
        guard accepted == count else {
            throw BenchmarkFailure(description: "only \(accepted) of \(count) pushes were accepted")
        }
    }
}

/// A mark that a thread sets itself.
private final class WantedMark: Sendable {
    private let wanted = Atomic(false)

    var isWanted: Bool { wanted.load(ordering: .sequentiallyConsistent) }

    func want() { wanted.store(true, ordering: .sequentiallyConsistent) }

    func setIfWanted() {
        if wanted.exchange(false, ordering: .sequentiallyConsistent) { InstructionMark.set() }
    }
}

/// Sends pushes in batches, one after the other.
private final class BatchLoad: PushTransportHandler {
    private struct State {
        var first = 0
        var end = 0
        var unanswered = 0
        var accepted = 0
    }

    static let batch = 50

    private let state = Mutex(State())
    private let answered = DispatchSemaphore(value: 0)
    private let transport: any PushTransport
    private let requests: [PushRequest]

    /// Prepares pushes to a device each.
    init(_ transport: any PushTransport, total: Int) {
        self.transport = transport
        let text = #"{"aps":{"alert":"\#(String(repeating: "x", count: 160))"}}"#
        let content = PushContent(
            payload: Array(text.utf8), topic: Workbench.bundleID, pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        requests = (0..<total).map { index in
            guard let token = DeviceToken(hexadecimal: TestDevices.token(index)) else {
                preconditionFailure("64 digits are a token")
            }
            let identifier = APNsIdentifier(
                high: UInt64(index) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(index) &* 0xC2B2_AE3D_27D4_EB4F)
            return PushRequest(
                identifier: UInt64(index), route: 0, token: token, apnsID: identifier, content: content)
        }
    }

    /// Sends the next pushes, and says how many were accepted.
    func run(_ count: Int) -> Int {
        state.withLock { state in
            state.end += count
            state.accepted = 0
        }
        sendBatch()
        answered.wait()
        return state.withLock { $0.accepted }
    }

    private func sendBatch() {
        let range = state.withLock { state in
            let range = state.first..<min(state.end, state.first + Self.batch)
            (state.first, state.unanswered) = (range.upperBound, range.count)
            return range
        }
        transport.send(Array(requests[range]))
    }

    func pushesEnded(_ results: [AttemptResult]) {
        let (isBatchAnswered, isOver) = state.withLock { state in
            state.unanswered -= results.count
            for result in results {
                if case .answered(let answer) = result.outcome, answer.status == 200 { state.accepted += 1 }
            }
            return (state.unanswered == 0, state.first == state.end)
        }
        guard isBatchAnswered else { return }
        if isOver { answered.signal() } else { sendBatch() }
    }
}
