import JSON
import PushServiceSimulator
import PushTestKit
import Synchronization

/// A simulator as a scenario uses it, whatever its service.
protocol StagedSimulator: ControlledSimulator {
    /// The certificate that workers have to trust, in PEM.
    var trustAnchorPEM: String { get }
    /// The ports that it listens on; only browsers' services have several.
    var stagedPorts: [UInt16] { get throws }

    /// Closes all connections and writes the last records.
    ///
    /// - Returns: how many records were lost.
    func end() async throws -> Int
}

/// A push service of a scenario: it goes down and comes back at the same ports, with the same certificate and keys.
///
/// A killed process would take the last records with it, and the ledger needs them. So the simulators live in this
/// process; to a worker, one that goes down is a service whose connections end and whose ports refuse.
final class StagedService: Sendable {
    /// Starts a simulator: at any free ports, or once more at these.
    typealias Start = @Sendable (_ ports: [UInt16]?) async throws -> any StagedSimulator

    private static let portSeconds = 10.0

    /// Which service it is.
    let kind: ServiceKind
    /// The file with its record.
    let recordPath: String
    /// The ports that it has; only browsers' services have several.
    let ports: [UInt16]
    private let startSimulator: Start
    private let simulator: Mutex<(any StagedSimulator)?>

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - kind: the kind of service.
    ///   - recordPath: the file with its record.
    ///   - start: starts the simulator.
    /// - Throws: the error of `start`.
    init(_ kind: ServiceKind, recordPath: String, start: @escaping Start) async throws {
        self.kind = kind
        self.recordPath = recordPath
        startSimulator = start
        let simulator = try await start(nil)
        ports = try simulator.stagedPorts
        self.simulator = Mutex(simulator)
    }

    /// The only port, of a service that has one.
    var port: UInt16 { ports[0] }

    /// The simulator.
    ///
    /// - Throws: `EnvironmentFailure` while it is down.
    var running: any StagedSimulator {
        get throws {
            guard let simulator = simulator.withLock({ $0 }) else { throw EnvironmentFailure("\(kind.title) is down") }
            return simulator
        }
    }

    /// Gives it a line of its fault language, as `apus simulate --help` has it.
    func control(_ line: String) throws { try running.execute(Array(line.utf8)) }

    /// Ends all faults, and begins those that last.
    func behave(but standingFaults: [String]) throws {
        try running.removeFaults()
        for line in standingFaults { try control(line) }
    }

    /// How many faults have happened since its start.
    func faultCount() async throws -> Int {
        let summary = try await running.summaryJSON()
        guard let count = try? JSONParser().parse(Array(summary.utf8))["faults"]?.int64 else {
            throw EnvironmentFailure("\(kind.title) does not say how many faults happened: \(summary)")
        }
        return Int(count)
    }

    /// Takes it down.
    ///
    /// - Throws: `EnvironmentFailure` if it is down already, or has lost records.
    func goDown() async throws {
        let simulator = try running
        self.simulator.withLock { $0 = nil }
        let lostCount = try await simulator.end()
        if lostCount > 0 { throw EnvironmentFailure("\(kind.title) could not write \(lostCount) records") }
    }

    /// Brings it back; it has forgotten its faults, and the credentials that it gave out.
    ///
    /// - Throws: the error of its start if its ports stay taken.
    func comeBack() async throws {
        let end = Deadline.now() + Self.portSeconds
        while true {
            do {
                let again = try await startSimulator(ports)
                return simulator.withLock { $0 = again }
            } catch let error as SimulatorError where error.code == .listenFailed && Deadline.now() < end {
                // A connection of another program may have the port for a moment.
                try await Pause.seconds(0.2)
            }
        }
    }

    /// Takes it down if it runs, for a run that ends early.
    func close() async { if (try? running) != nil { try? await goDown() } }
}
