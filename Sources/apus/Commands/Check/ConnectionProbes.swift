import APNs
import ChangeQueue
import Dispatcher
import Glibc
import PushCore
import SQLiteRegistry

/// The probes of `apus check --connect`: add one here for each new thing that a worker depends on.
enum ConnectionProbes {
    /// Apple's hosts (Apple, "Sending notification requests to APNs").
    private static let appleHosts = ["api.push.apple.com", "api.sandbox.push.apple.com"]

    /// All probes for a configuration, in the order in which they are best tried.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        [broker(configuration), topology(configuration), registry(configuration)]
            + configuration.apps.flatMap { [key(of: $0)] + handshakes(of: $0) }
    }

    // MARK: RabbitMQ

    private static func broker(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "broker") {
            do throws(ChangeQueueError) {
                let broker = try brokerConfiguration(configuration)
                try await broker.checkConnection()
                return .ok("logged in to " + broker.endpointDescriptions.joined(separator: " or "))
            } catch { return failure(error) }
        }
    }

    private static func topology(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "topology", prerequisite: "broker") {
            let topology = Topology(
                namespace: configuration.rabbitMQ.namespace,
                retryDelaysMilliseconds: configuration.retry.delays.map { Int64($0.milliseconds) })
            do throws(ChangeQueueError) {
                let findings = try await topology.check(brokerConfiguration(configuration))
                let bad = findings.filter { !$0.isGood }
                guard !bad.isEmpty else { return .ok("\(findings.count) exchanges and queues are as they should be") }
                let isDeclared = configuration.worker.declaresTopology && bad.allSatisfy { $0.status == .missing }
                if isDeclared { return .ok("\(bad.count) objects are missing; a worker will make them") }
                return .failed(bad.map(\.description).joined(separator: "\n"), .configuration)
            } catch { return failure(error) }
        }
    }

    private static func brokerConfiguration(
        _ configuration: Configuration
    ) throws(ChangeQueueError) -> BrokerConfiguration {
        try BrokerConfiguration(
            urls: configuration.rabbitMQ.urls.map(\.revealed), caFile: configuration.rabbitMQ.caFile ?? "",
            namespace: configuration.rabbitMQ.namespace, prefetch: UInt16(clamping: configuration.rabbitMQ.prefetch),
            connectionName: "apus check")
    }

    private static func failure(_ error: ChangeQueueError) -> ConnectionProbe.Outcome {
        let code: ExitCode =
            switch error.code {
            case .refused: .noPermission
            case .unavailable, .tlsFailed: .unavailable
            case .missing, .different, .invalid: .configuration
            }
        return .failed(error.message, code)
    }

    // MARK: The registry

    private static func registry(_ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "registry") {
            guard case .sqlite(let path) = configuration.registry else { return .skipped("not an SQLite registry") }
            do {
                let count = try SQLiteRegistry.open(path: path, mode: .readOnly).deviceCount()
                guard access(path, W_OK) == 0 else {
                    return .failed("\(path) cannot be written by this user; check its owner and mode", .noPermission)
                }
                return .ok("\(path) has \(count) \(count == 1 ? "device" : "devices")")
            } catch {
                return .failed("\(error)", .unavailable)
            }
        }
    }

    // MARK: APNs

    private static func key(of app: Configuration.App) -> ConnectionProbe {
        ConnectionProbe(name: "key \(app.name)") {
            do throws(APNsError) {
                let content = try ProviderKeyFile.read(path: app.apns.keyFile)
                return .ok("\(app.apns.keyFile) holds an EC P-256 key" + (content.warning.map { "; \($0)" } ?? ""))
            } catch { return .failed(error.description, .configuration) }
        }
    }

    private static func handshakes(of app: Configuration.App) -> [ConnectionProbe] {
        let servers = app.apns.endpoint.map { [$0] } ?? appleHosts.map { HostPort(host: $0, port: 443) }
        return servers.map { server in
            ConnectionProbe(name: "apns \(app.name) \(server)") {
                await HandshakeProbe.run(host: server.host, port: server.port, trustAnchorsFile: app.apns.caFile)
            }
        }
    }
}
