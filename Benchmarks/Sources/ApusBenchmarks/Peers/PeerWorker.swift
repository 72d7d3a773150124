import PushTestKit

/// A worker that takes part: ours, or one that somebody would write for the same job.
enum PeerWorker: String, CaseIterable {
    case apus, java, go, python

    /// Its language and libraries.
    var title: String {
        switch self {
        case .apus: "**Apus**"
        case .java: "Java (amqp-client, Netty, JDBC)"
        case .go: "Go (amqp091-go, net/http2, database/sql)"
        case .python: "Python (aio-pika, aioapns, sqlite3 or asyncpg)"
        }
    }

    /// The rounds in which it runs: ours in all, the others in every second one.
    func takesPart(in round: Int) -> Bool { self == .apus || round.isMultiple(of: 2) }

    /// How many events of a workload it gets, which are some seconds of work; the first half is for warming up.
    func events(of workload: PeerWorkload) -> Int {
        if Scale.isSmall { return workload == .oneToOne ? 400 : 2 }
        return switch (workload, self) {
        case (.oneToOne, .apus): 140_000
        case (.oneToOne, .java): 50_000
        case (.oneToOne, .go): 20_000
        case (.oneToOne, .python): 6_000
        case (.thousandDevices, .apus): 400
        case (.thousandDevices, .java): 300
        case (.thousandDevices, .go): 50
        case (.thousandDevices, .python): 12
        case (.largeAudience, _): 4
        }
    }

    /// Starts it on one processor.
    ///
    /// - Parameters:
    ///   - bench: where `apus.toml` and `job.json` are, each for one of them.
    ///   - processor: the number of the processor, from 0.
    /// - Returns: the process.
    /// - Throws: an error that says why it cannot be started.
    func start(on bench: Workbench, processor: Int) throws -> RunningCommand {
        let pinned = ["/usr/bin/taskset", "-c", "\(processor)"]
        if self == .apus { return try WorkerProcess(in: bench.temporary, prefix: pinned).command }
        let program = "\(bench.options.peersFolder)/\(rawValue)/worker"
        return try RunningCommand(
            program: pinned[0], Array(pinned.dropFirst()) + [program, "job.json"], in: bench.temporary)
    }
}

/// The workloads of the workers.
enum PeerWorkload: String, CaseIterable {
    case oneToOne = "one_to_one"
    case thousandDevices = "1000_devices"
    case largeAudience = "100000_devices"

    /// How many devices an event has.
    var audience: Int {
        switch self {
        case .oneToOne: 1
        case .thousandDevices: 1_000
        case .largeAudience: Scale.of(100_000, small: 3_000)
        }
    }

    /// How many identities there are, each with as many devices.
    ///
    /// They are so many that no two changes of a dataset wait at the same time: Apus would push the newer one only.
    var identities: Int {
        switch self {
        case .oneToOne: Scale.of(100_000, small: 400)
        case .thousandDevices: Scale.of(400, small: 2)
        case .largeAudience: Scale.of(4, small: 2)
        }
    }

    /// Whether its events are requested pushes to an identity; those of the others are changed datasets of one.
    var isRequested: Bool { self == .largeAudience }

    /// Those that do it; the others take the devices of an event at once, and have no part in a large audience.
    var workers: [PeerWorker] { self == .largeAudience ? [.apus] : PeerWorker.allCases }

    /// Its name in a table.
    var title: String {
        switch self {
        case .oneToOne: "one to one"
        case .thousandDevices: "1 000 devices an event"
        case .largeAudience: "100 000 devices an event"
        }
    }
}

/// The registries that the workers read.
enum PeerRegistry: String, CaseIterable {
    case sqlite, postgresql

    /// Its name in a table.
    var title: String { self == .sqlite ? "SQLite" : "PostgreSQL" }
}
