import AMQP
import EventLoop
import Foundation
import Glibc
import JSON
import PushTestKit
import Synchronization

/// Everything that a scenario needs: broker, push services, registry, workers, and a load.
///
/// A scenario strikes through it; what it draws follows from the seed.
final class Environment: Sendable {
    /// Deliveries that a worker holds at most, which bounds the duplicates of a redelivery.
    static let prefetch = 100
    /// How many chunks of large fan-outs a worker has begun at most: the one that it serves and some of the next.
    static let chunksBegunMaximum = 2
    /// How many devices a chunk has at most, where scenarios have large fan-outs.
    static let chunkDevices = 250
    /// How many identities the load is about.
    private static let identityCount = 200
    /// How many devices an announcement reaches.
    static let crowdCount = 600

    struct State {
        var generator: SeededGenerator
        var addresses = EnvironmentAddresses(brokerURLs: [], publisherURLs: [], services: [:], registryURL: "")
        var broker: PrivateRabbitMQ?
        var cluster: PrivateRabbitMQCluster?
        var database: PrivatePostgreSQL?
        var proxies: [ProxyTarget: FaultProxy] = [:]
        var standby: PrivatePostgreSQL?
        var pooler: PrivatePgBouncer?
        var workerEnvironment: [String: String] = [:]
        var services: [ServiceKind: StagedService] = [:]
        var publisher: (any RunningLoad<LedgerEvent>)?
        var supervisors: [WorkerSupervisor] = []
        var outbox: StagedOutbox?
        var relays: [WorkerSupervisor] = []
        var problems: [String] = []
        var explainedRedeliveries = 0
        /// How many events scenarios destroyed together with the queues that they stood in, and when at last.
        var destroyedMaximum = 0
        var destroyedBeforeMilliseconds: Int64 = 0
        /// Ends the resources that scenarios started, together with the environment.
        var closings: [@Sendable () async -> Void] = []
    }

    let scenario: Scenario
    /// The seed of all random draws.
    let seed: UInt64
    /// The names of exchanges and queues begin so.
    let namespace = PrivateRabbitMQ.makeNamespace()
    /// Where configuration, registry and record are; workers run here.
    let folder: TemporaryFolder
    /// The devices.
    let population: Population
    let options: ProgramOptions
    let state: Mutex<State>

    /// Prepares a environment; nothing is started yet.
    init(scenario: Scenario, seed: UInt64, options: ProgramOptions) throws {
        self.scenario = scenario
        self.seed = seed
        self.options = options
        folder = try TemporaryFolder()
        population = Population(
            identityCount: Self.identityCount,
            crowdCount: scenario.setting.announcementInterval > 0 ? Self.crowdCount : 0,
            services: scenario.setting.services, hasSandbox: scenario.setting.hasSandbox, seed: seed)
        state = Mutex(State(generator: SeededGenerator(seed: seed ^ 0x5eed)))
    }

    // MARK: Scenarios

    /// A number that follows from the seed.
    func draw(_ range: ClosedRange<Double>) -> Double {
        state.withLock { Double.random(in: range, using: &$0.generator) }
    }

    /// One of the workers, by the seed.
    func drawWorker() -> WorkerSupervisor {
        state.withLock { $0.supervisors[Int.random(in: $0.supervisors.indices, using: &$0.generator)] }
    }

    /// All workers.
    var workers: [WorkerSupervisor] { state.withLock { $0.supervisors } }

    /// All relays; only with `Setting.relays`.
    var relays: [WorkerSupervisor] { state.withLock { $0.relays } }

    /// A part that is there from some moment on, and not in every scenario.
    func part<Part: Sendable>(_ name: String, _ property: KeyPath<State, Part?>) throws -> Part {
        guard let part = state.withLock({ $0[keyPath: property] }) else {
            throw EnvironmentFailure("there is no \(name)")
        }
        return part
    }

    /// The only node, or the first of the cluster.
    var broker: PrivateRabbitMQ { get throws { try part("broker", \.broker) } }

    /// All nodes; only with more than one.
    var cluster: PrivateRabbitMQCluster { get throws { try part("cluster", \.cluster) } }

    /// The database server; only with `.postgreSQL`.
    var database: PrivatePostgreSQL { get throws { try part("database", \.database) } }

    /// A push service, which the setting names.
    func service(_ kind: ServiceKind) throws -> StagedService { try part(kind.title, \.services[kind]) }

    /// The publisher of the load; it is there when the scenario strikes.
    var publisher: any RunningLoad<LedgerEvent> { get throws { try part("load", \.publisher) } }

    /// Where the workers look for what they talk to; `prepare` may change it.
    var addresses: EnvironmentAddresses {
        get { state.withLock { $0.addresses } }
        set { state.withLock { $0.addresses = newValue } }
    }

    /// Notes something that makes the scenario invalid whatever the ledger says.
    func report(problem: String) { state.withLock { $0.problems.append(problem) } }

    /// Notes that what a worker held comes again, beside what the scenario says from the start.
    func explainRedelivery() { state.withLock { $0.explainedRedeliveries += 1 } }

    /// Notes that the scenario has deleted a queue in which this many messages stood.
    func excuse(_ count: Int) { state.withLock { $0.destroyedMaximum += count } }

    /// Notes that only events which had been confirmed by now can have been among them.
    func excuse(beforeMilliseconds milliseconds: Int64) {
        state.withLock { $0.destroyedBeforeMilliseconds = milliseconds }
    }

    /// Ends something with the environment that the scenario started.
    func atEnd(_ closing: @escaping @Sendable () async -> Void) { state.withLock { $0.closings.append(closing) } }

    /// Runs `apus` in the environment's folder, and gives its end.
    func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        try await CommandRunner.apus(arguments, input: input, in: folder)
    }

    /// Does something on a connection of its own to the broker.
    func withSession(_ body: @escaping @Sendable (AMQPSession) throws -> Void) async throws {
        let endpoint = try AMQPEndpoint(try broker.url)
        let loop = try EventLoop(name: "stage")
        defer { loop.stopAndJoin() }
        try await loop.run {
            let session = try AMQPSession(endpoint, options: AMQPOptions())
            defer { session.close() }
            try body(session)
        }
    }

    /// Waits until all workers and relays are ready.
    func waitUntilReady() async throws { for process in workers + relays { try await process.waitUntilReady() } }

    /// How many events the broker has confirmed so far.
    var confirmedCount: Int { get throws { try publisher.load.value.confirmedMilliseconds.count } }

    /// Waits until so many more events have been confirmed than now.
    func waitForConfirms(_ count: Int, seconds: Double = 60) async throws {
        let aim = try confirmedCount + count
        guard try await publisher.load.wait(deadlineSeconds: seconds, until: { $0.confirmedMilliseconds.count >= aim })
        else {
            throw EnvironmentFailure(
                "the broker did not confirm \(count) more events within \(Int(seconds)) s: "
                    + (try publisher.load.value.summary))
        }
    }

    /// Reports progress.
    func say(_ text: String) { Progress.say("  \(scenario.name): \(text)") }

    /// The devices that the workers have removed; one that no answer called dead is a problem.
    ///
    /// - Parameter deadTokens: the tokens that their service has called dead or bad.
    /// - Returns: the devices that are no longer registered.
    /// - Throws: `EnvironmentFailure` if the registry cannot be read.
    func removedDevices(calledDead deadTokens: Set<String>) async throws -> [Int] {
        let list = try await apus("device", "list", "--json")
        guard list.exitCode == 0 else { throw EnvironmentFailure("device list: \(list.errors)") }
        let parser = JSONParser()
        let registered = Set(
            list.output.split(separator: "\n").compactMap { (try? parser.parse(Array($0.utf8)))?["deviceId"]?.string })
        let removed = population.deviceRange.filter { !registered.contains(Population.deviceText($0)) }
        for device in removed where !deadTokens.contains(population.token(of: device)) {
            report(problem: "device \(device) was removed, and no answer had called its token dead")
        }
        return removed
    }

    /// Ends a worker in order, as soon as it is ready, and notes a problem if it crashed.
    func endInOrder(_ supervisor: WorkerSupervisor) async throws {
        try await supervisor.waitUntilReady()
        let exitCode = try await supervisor.endBySignal(SIGTERM)
        if Self.isCrash(exitCode) { report(problem: "\(supervisor.name) crashed at its end: \(exitCode)") }
    }

    /// Notes a problem for each worker that crashed, for scenarios in which workers may give up by themselves.
    func reportCrashes() {
        for supervisor in workers {
            for exitCode in supervisor.unexpectedExitCodes where Self.isCrash(exitCode) {
                report(problem: "\(supervisor.name) crashed: \(exitCode)")
            }
        }
    }

    /// Whether an exit code is that of a signal, which no worker sends itself but by a failed precondition.
    private static func isCrash(_ exitCode: Int32) -> Bool { exitCode >= 128 }

    /// Returns a service's faults from the start: now and then it is not available, so that events are queued and
    /// retried throughout.
    func standingFaults(of service: ServiceKind) -> [String] {
        [service.unavailable(probability: scenario.setting.unavailableProbability)]
    }

    /// Ends what a scenario lets a service do wrong; what it does from the start goes on.
    func endFaults(of kind: ServiceKind) throws { try service(kind).behave(but: standingFaults(of: kind)) }
}

/// Where the workers look for what they talk to; a scenario that puts something in between changes it in `prepare`.
struct EnvironmentAddresses: Sendable {
    /// The broker's nodes, for the workers and for `apus topology apply`.
    var brokerURLs: [String]
    /// The broker's nodes, for the publisher of the load.
    var publisherURLs: [String]
    /// The ports of the push services; for browsers' services, of which each has a port, only that of an HTTP proxy.
    var services: [ServiceKind: UInt16]
    /// The registry.
    var registryURL: String
    /// The broker for relays alone; nil for that of the workers.
    var relayBrokerURL: String?
}

/// Why a scenario could not be played to its end.
struct EnvironmentFailure: Error, CustomStringConvertible {
    /// The condition that was not met, and the observation.
    let description: String

    init(_ description: String) { self.description = description }
}
