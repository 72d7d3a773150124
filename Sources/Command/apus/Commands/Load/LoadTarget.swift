import ChangeQueue
import WorkerConfiguration

/// The deployment that a load is for, and the proof that it is none of production.
struct LoadTarget: Sendable {
    /// The whole configuration.
    let configuration: Configuration
    /// The app whose devices get the pushes.
    let app: Configuration.App
    /// How it reaches APNs.
    let apns: Configuration.APNs
    /// Where the workers find the push service.
    let endpoint: HostPort
    /// Where the broker is.
    let broker: BrokerConfiguration

    /// Reads the deployment from the worker's configuration, and refuses one that may not be loaded.
    ///
    /// - Throws: `CommandFailure` with `configuration` if the pushes would go to Apple or the app is missing, with
    ///   `usage` if the broker is on another machine and `--allow-remote` is missing.
    init(_ invocation: CommandInvocation) throws(CommandFailure) {
        configuration = try invocation.loadConfiguration(for: .tool).configuration
        let name = invocation.string(LoadFlags.app)
        guard let app = configuration.apps.first(where: { name == nil || $0.name == name }) else {
            throw CommandFailure(
                .configuration,
                name.map { "the configuration has no [[app]] named \"\($0)\"" }
                    ?? "the configuration has no [[app]], so no worker would push")
        }
        self.app = app
        for other in configuration.apps { try Self.refuseApple(other) }
        guard let apns = app.apns else {
            throw CommandFailure(
                .configuration,
                "the app \"\(app.name)\" has no [app.apns], and a load is made of pushes to APNs; "
                    + "name another with --app"
            )
        }
        self.apns = apns
        guard let endpoint = apns.endpoint else { throw Self.isApple(app, "Apple's own servers, the default") }
        self.endpoint = endpoint
        broker = try invocation.broker(configuration)
        guard !invocation.has(LoadFlags.allowRemote) else { return }
        for host in broker.hosts where !HostPort(host: host, port: 0).isLoopback {
            throw .usage(
                "the broker \(host) is on another machine; a load can stop a broker that others use: give "
                    + "--allow-remote if it is yours to load")
        }
    }

    /// Refuses an app whose pushes go to Apple, also beside another that is simulated.
    private static func refuseApple(_ app: Configuration.App) throws(CommandFailure) {
        guard let apns = app.apns else { return }
        guard let endpoint = apns.endpoint else { throw isApple(app, "Apple's own servers, the default") }
        let labels = endpoint.host.lowercased().split(separator: ".")
        if labels.suffix(2) == ["apple", "com"] || labels.suffix(2) == ["push-apple", "com"] {
            throw isApple(app, endpoint.description)
        }
    }

    private static func isApple(_ app: Configuration.App, _ what: String) -> CommandFailure {
        CommandFailure(
            .configuration,
            "the app \"\(app.name)\" pushes to \(what): a load is never sent to Apple; set endpoint in its [app.apns] "
                + "to a simulator, for example 127.0.0.1:8443")
    }
}
