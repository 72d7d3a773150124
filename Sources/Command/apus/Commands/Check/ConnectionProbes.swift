import APNsTransport
import ChangeQueue
import Dispatcher
import Glibc
import HTTPClient
import PostgresRegistry
import RegistryCore
import Relay
import SQLiteRegistry
import ServiceClient
import Webhooks
import WorkerConfiguration

/// The probes of `apus check --connect`: add one here for each new thing that a worker depends on.
enum ConnectionProbes {
    /// Tries all probes, one after the other.
    ///
    /// - Parameters:
    ///   - configuration: the configuration to probe.
    ///   - ended: called after each probe, because the next may take its time.
    static func run(
        for configuration: Configuration, each ended: (ConnectionProbe, ConnectionProbe.Outcome) -> Void
    ) async {
        var failed: Set<String> = []
        for probe in all(for: configuration) {
            var outcome: ConnectionProbe.Outcome
            if let prerequisite = probe.prerequisite, failed.contains(prerequisite) {
                outcome = .skipped("\(prerequisite) failed")
            } else {
                outcome = await probe.run()
            }
            if case .failed = outcome { failed.insert(probe.name) }
            ended(probe, outcome)
        }
    }

    /// All probes for a configuration, in the order in which they are best tried.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        [broker, permissions, topology, policies, registry].map { $0(configuration) }
            + configuration.apps.compactMap { app in app.apns.map { key(app.name, $0) } } + servers(configuration)
            + FCMProbes.all(for: configuration) + ADMProbes.all(for: configuration)
            + WebPushProbes.all(for: configuration) + WebhookProbes.all(for: configuration)
            + (configuration.relay.isConfigured ? [outbox(configuration)] : [])
    }

    // MARK: RabbitMQ

    private static func broker(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "broker") {
            do throws(ChangeQueueError) {
                let broker = try configuration.broker(purpose: "check")
                let identity = try await broker.checkConnection()
                let endpoints = broker.endpointDescriptions.joined(separator: " or ")
                return .ok(
                    (["logged in to \(endpoints): \(identity.description)"] + identity.notes).joined(separator: "\n"))
            } catch { return failure(error) }
        }
    }

    /// The rights of a worker, of `apus topology apply` if the worker does it, and of a publisher if the worker is a
    /// relay or takes events over HTTP; others are only told.
    private static func permissions(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "permissions", prerequisite: "broker") {
            do throws(ChangeQueueError) {
                let permissions = try await configuration.topology.permissions(
                    at: configuration.broker(purpose: "check"))
                let takesEvents = configuration.registryAPI.takesEvents && configuration.registryAPI.listen != nil
                let needed: [BrokerRole.Name] =
                    [.worker] + (configuration.worker.declaresTopology ? [.topology] : [])
                    + (configuration.relay.isInWorker || takesEvents ? [.publisher] : [])
                let lacking = permissions.findings.filter { needed.contains($0.role.name) && !$0.missing.isEmpty }
                guard lacking.isEmpty else {
                    return .failed(
                        lacking.map { finding in
                            "\(permissions.user) may not \(words(for: finding.missing)), which "
                                + "`\(finding.role.purpose)` needs; "
                                + "`apus topology permissions` prints the commands that permit it"
                        }.joined(separator: "\n"), .noPermission)
                }
                let others = permissions.findings.filter { !$0.missing.isEmpty }
                return .ok(
                    (["\(permissions.user) may do what a worker needs"]
                        + others.map { "for \($0.role.purpose) it lacks: \(words(for: $0.missing))" })
                        .joined(separator: "\n"))
            } catch { return failure(error) }
        }
    }

    /// The first rights of a list that may name every queue.
    private static func words(for rights: [String]) -> String {
        let shown = rights.prefix(3).joined(separator: ", ")
        return rights.count > 3 ? "\(shown) and \(rights.count - 3) more" : shown
    }

    private static func topology(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "topology", prerequisite: "broker") {
            do throws(ChangeQueueError) {
                let broker = try configuration.broker(purpose: "check")
                let findings = try await configuration.topology.check(broker)
                let bad = findings.filter { !$0.isGood && !$0.isUncompared }
                guard !bad.isEmpty else {
                    let uncompared = findings.count(where: \.isUncompared)
                    let state =
                        uncompared == 0
                        ? "\(findings.count) exchanges and queues are as configured"
                        : "\(findings.count) exchanges and queues; the arguments of \(uncompared) were not compared, "
                            + "because this user may not configure them, and a worker need not"
                    let unused = try await configuration.topology.unusedRetries(at: broker).map(\.description)
                    return .ok(([state] + unused).joined(separator: "\n"))
                }
                let isToBeMade = configuration.worker.declaresTopology && bad.allSatisfy { $0.status == .missing }
                if isToBeMade { return .ok("\(bad.count) exchanges and queues are missing; a worker will create them") }
                // The workers empty a surplus queue; it does not keep them from working.
                let text = bad.map(\.description).joined(separator: "\n")
                return bad.allSatisfy(\.isPending) ? .ok(text) : .failed(text, .configuration)
            } catch { return failure(error) }
        }
    }

    private static func policies(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "policies", prerequisite: "broker") {
            do throws(ChangeQueueError) {
                guard configuration.rabbitMQ.managementURL != nil else {
                    return .skipped(
                        "rabbitmq.management_url is not set, and AMQP does not show policies; look at "
                            + "`rabbitmqctl list_policies` and `list_operator_policies`: for queues that begin with "
                            + "\(configuration.rabbitMQ.namespace). no policy may set overflow or expires, or lower "
                            + "message-ttl, max-length, delivery-limit or consumer-timeout")
                }
                let broker = try configuration.broker(purpose: "check")
                let changed = try await configuration.topology.policyFindings(of: broker)
                guard !changed.isEmpty else { return .ok("no policy of RabbitMQ changes the queues of Apus") }
                let text = changed.map(\.description).joined(separator: "\n")
                return changed.allSatisfy(\.isGood) ? .ok(text) : .failed(text, .configuration)
            } catch { return failure(error) }
        }
    }

    private static func failure(_ error: ChangeQueueError) -> ConnectionProbe.Outcome {
        let failure = CommandFailure(error)
        return .failed(failure.message, failure.code)
    }

    // MARK: The registry

    private static func registry(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "registry") {
            do throws(RegistryError) {
                let registry: any Registry & SchemaRegistry
                var postgres: PostgresRegistry?
                switch configuration.registry {
                case .sqlite(let path):
                    registry = try SQLiteRegistry.open(path: path, mode: .readOnly)
                    guard access(path, W_OK) == 0 else {
                        return .failed(
                            "\(path) cannot be written by this user; check its owner and mode", .noPermission)
                    }
                case .postgres(let url):
                    let opened = try PostgresRegistry.open(url: url.revealed, mode: .readOnly)
                    try opened.requireWritable()
                    postgres = opened
                    registry = opened
                }
                let count = try registry.deviceCount()
                let text = "\(registry.location) has \(count) \(count == 1 ? "device" : "devices")"
                // Access by others may be intended, and a migration may wait: a worker works nevertheless.
                let warnings =
                    [try registry.schemaWarning(), postgres?.poolerAdvice].compactMap(\.self)
                    + configuration.registry.modeWarnings
                return .ok(([text] + warnings).joined(separator: "\n"))
            } catch { return .failed("\(error)", error.code == .readOnly ? .noPermission : .unavailable) }
        }
    }

    // MARK: The relay

    private static func outbox(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "outbox") {
            do throws(OutboxError) {
                let outbox = try OutboxRelay.probe(url: configuration.relay.url.revealed)
                let state = outbox.waitedMilliseconds.map { "its oldest row has waited for \($0 / 1_000) s" }
                return .ok("\(outbox.location): \(state ?? "no row waits"), and its user may do what a relay needs")
            } catch { return .failed(error.message, error.code == .unavailable ? .unavailable : .configuration) }
        }
    }

    // MARK: APNs

    private static func key(_ app: String, _ apns: Configuration.APNs) -> ConnectionProbe {
        ConnectionProbe(name: "key \(app)") {
            do throws(ServiceError) {
                _ = try ProviderKeyFile.read(path: apns.keyFile)
                return .ok("\(apns.keyFile) holds an EC P-256 key; only a push shows whether APNs accepts it")
            } catch { return .failed(error.description, .configuration) }
        }
    }

    /// One for each server of each app; where an endpoint is configured it serves both environments.
    private static func servers(_ configuration: Configuration) -> [ConnectionProbe] {
        do throws(ServiceError) {
            var names: Set<String> = []
            return try configuration.apnsClient().routes.map(\.serviceRoute).compactMap { route in
                let name = "apns \(route.app) \(HostPort(host: route.host, port: route.port))"
                guard names.insert(name).inserted else { return nil }
                return ConnectionProbe(name: name) { await tryServer(route) }
            }
        } catch {
            let outcome = ConnectionProbe.Outcome.failed(error.description, .configuration)
            return [ConnectionProbe(name: "apns") { outcome }]
        }
    }

    private static func tryServer(_ route: ServiceRoute) async -> ConnectionProbe.Outcome {
        do throws(ServiceError) {
            let address = try await ServiceProbe.check(route).address
            return .ok("certificate verified, HTTP/2 negotiated with \(address)")
        } catch { return .failed(error.description, .unavailable) }
    }
}

/// One thing that `apus check --connect` tries out.
struct ConnectionProbe: Sendable {
    /// The outcome of a probe.
    enum Outcome: Sendable {
        /// The probe succeeded; the text says what was found.
        case ok(String)
        /// It does not; the text says why and what to do, the code becomes the exit code.
        case failed(String, ExitCode)
        /// The probe was not tried; the text says why.
        case skipped(String)

        /// The kind of the outcome in a word, and what was found.
        var words: (word: String, text: String) {
            switch self {
            case .ok(let text): ("ok", text)
            case .failed(let text, _): ("failed", text)
            case .skipped(let text): ("skipped", text)
            }
        }
    }

    /// Describes an outcome in some lines, for people.
    func lines(_ outcome: Outcome) -> String {
        let (word, text) = outcome.words
        let indented = text.split(separator: "\n").joined(separator: "\n        ")
        return "\(word.uppercased())\(String(repeating: " ", count: 8 - word.count))\(name): \(indented)"
    }

    /// The name of the probed part, for example `broker`; distinct.
    let name: String
    /// The name of the probe without whose success this one is not worth trying.
    var prerequisite: String?
    /// Tries it; ends by itself within a minute at most, and leaves nothing behind.
    let run: @Sendable () async -> Outcome
}

/// The probes of `apus check --connect` for webhooks: a connection to each endpoint, over which nothing is sent.
enum WebhookProbes {
    /// One for each app with a webhook.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        configuration.webhookEndpoints.map { endpoint in
            ConnectionProbe(name: "webhook \(endpoint.app)") {
                do {
                    guard let failure = try await WebhookTrial.probe(endpoint) else {
                        return .ok(
                            "connected to \(endpoint.address.origin); `apus webhooks test --app \(endpoint.app)` "
                                + "posts a sample")
                    }
                    return .failed(
                        "\(endpoint.address.origin): \(failure.description); the settings are url, ca_file and "
                            + "allow_private_addresses of [app.webhook]", .unavailable)
                } catch { return .failed("\(error)", .unavailable) }
            }
        }
    }
}
