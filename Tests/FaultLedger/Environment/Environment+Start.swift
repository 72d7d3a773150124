import PushTestKit
import Synchronization
import WebPushSimulator

extension Environment {
    /// Starts everything but the load.
    ///
    /// - Throws: `EnvironmentFailure` and whatever a part throws that does not start.
    func start() async throws {
        let ports = try await startServices()
        let urls = try await startBroker()
        addresses = EnvironmentAddresses(
            brokerURLs: urls, publisherURLs: urls, services: ports, registryURL: try await startRegistry())
        if scenario.setting.relays > 0 { try await startOutbox() }
        try await scenario.prepare(self)
        try writeConfiguration()
        try await succeed("topology apply", apus("topology", "apply"))
        try await bindOutcomes()
        try await succeed("device import", apus("device", "import", input: try importLines()))
        for room in 0..<Population.roomCount {
            try await succeed(
                "subscription save", CommandRunner.apus(Population.subscriptionArguments(room: room), in: folder))
        }
        try startWorkers()
        try startRelays()
        try await waitUntilReady()
    }

    /// Starts the push services.
    ///
    /// - Returns: the ports at which workers find those that have one.
    private func startServices() async throws -> [ServiceKind: UInt16] {
        var ports: [ServiceKind: UInt16] = [:]
        for kind in scenario.setting.services {
            let service = try await StagedService.start(
                kind,
                StagedService.Stage(
                    folder: folder, seed: seed % 1_000_000, standingFaults: standingFaults(of: kind),
                    script: population.scriptLines(of: kind), accessTokenSeconds: scenario.setting.accessTokenSeconds))
            state.withLock { $0.services[kind] = service }
            if kind != .webpush { ports[kind] = service.port }
        }
        return ports
    }

    /// Returns the input of `apus device import`: the population.
    func importLines() throws -> String {
        let browsers = try scenario.setting.services.contains(.webpush) ? service(.webpush).running : nil
        return try population.importLines { browser in
            guard let simulator = browsers as? WebPushSimulator else {
                throw EnvironmentFailure("there are no browsers")
            }
            return try simulator.subscription(ofOrigin: browser.origin, browser.index).json
        }
    }

    private func startBroker() async throws -> [String] {
        let setting = scenario.setting
        guard setting.brokerNodes == 1 else { return try await startCluster() }
        let broker =
            setting.isBrokerPrivate
            ? try await PrivateRabbitMQ.start(configuration: setting.brokerConfiguration)
            : try await PrivateRabbitMQ.shared()
        state.withLock { $0.broker = broker }
        if setting.isBrokerPrivate { atEnd { broker.stop() } }
        return [broker.url]
    }

    private func startCluster() async throws -> [String] {
        let cluster = try await PrivateRabbitMQCluster.start(configuration: scenario.setting.brokerConfiguration)
        state.withLock { state in
            state.cluster = cluster
            state.broker = cluster.nodes[0]
        }
        atEnd { cluster.stop() }
        return cluster.urls
    }

    private func startRegistry() async throws -> String {
        switch scenario.setting.registry {
        case .sqlite: return "sqlite:\(folder.path)/registry.db"
        case .postgreSQL:
            let database = try await PrivatePostgreSQL.start()
            state.withLock { $0.database = database }
            atEnd { database.stop() }
            return database.url(database: try await database.makeDatabase())
        }
    }

    private func startWorkers() throws {
        for number in 1...scenario.setting.workers {
            let supervisor = WorkerSupervisor("worker-\(number)", folder: folder)
            let environment = state.withLock { state in
                state.supervisors.append(supervisor)
                return state.workerEnvironment
            }
            if !environment.isEmpty {
                supervisor.setPrefix(["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" }.sorted())
            }
            try supervisor.start()
        }
    }

    /// Writes `apus.toml`, with the addresses as they are now; workers read it when they start.
    ///
    /// The ladder ends at a second instead of an hour, so that ten attempts would be over before some faults are: there
    /// are as many as a minute of any fault can spend.
    func writeConfiguration() throws {
        var configuration = TestConfiguration(brokerURLs: addresses.brokerURLs, apps: [])
        configuration.broker = "namespace = \"\(namespace)\"\nprefetch = \(Self.prefetch)"
        configuration.registryURL = addresses.registryURL
        configuration.retry += "\nmax_attempts = 40"
        configuration.sections = scenario.setting.workerConfiguration
        if let outbox = state.withLock({ $0.outbox }) { configuration.sections += outbox.configuration }
        configuration.use(scenario.setting.services, at: addresses.services)
        try folder.write("apus.toml", configuration.text)
    }

    private func succeed(_ what: String, _ result: CommandResult) throws {
        guard result.exitCode == 0 else { throw EnvironmentFailure("\(what): \(result.output)\(result.errors)") }
    }

    /// Starts the load.
    func startLoad() throws {
        let source = Workload(
            population: population, seed: seed, announcementInterval: scenario.setting.announcementInterval)
        let eventsPerSecond = Double(scenario.setting.eventsPerSecond)
        if let outbox = state.withLock({ $0.outbox }) {
            let load = OutboxLoad(outbox: outbox, workload: source, eventsPerSecond: eventsPerSecond, seed: seed)
            state.withLock { $0.publisher = load }
            return load.start()
        }
        let publisher = try LoadPublisher(
            urls: addresses.publisherURLs, exchange: "\(namespace).changes", source: source,
            pace: LoadPace(eventsPerSecond: eventsPerSecond, openMaximum: 256, tickMilliseconds: 10))
        state.withLock { $0.publisher = publisher }
        publisher.start()
    }
}
