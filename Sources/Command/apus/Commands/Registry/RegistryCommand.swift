import AdminServer
import Dispatcher
import EventLoop
import Metrics
import Notifications
import PushCore
import RegistryAPI

/// `apus registry`.
struct RegistryCommand: Command {
    let name = "registry"
    let summary = "Serve the registry's HTTP API, without a worker"
    let help = CommandHelp(
        discussion: """
            Serves the registry over HTTP until SIGTERM or SIGINT. 'apus run' serves the same
            if [registry] listen is set. It speaks three languages:

            JSON of its own, under /v1, described by /openapi.json: devices with their badges,
            datasets and topics. A request bears a token that 'apus registry token add' made.

            Amazon Cognito Sync: RegisterDevice, SubscribeToDataset, UnsubscribeFromDataset,
            Get- and SetIdentityPoolConfiguration. Clients need no change but their endpoint
            URL. Requests are signed (Signature Version 4, service cognito-sync, any region)
            with an access key of [registry] access_keys or access_keys_file, whose lines are
              ID SECRET
              ID SECRET POOL ...
            for instance, to make one:
              echo "AKID$(openssl rand -hex 8) $(openssl rand -hex 20)" >> access-keys
            A device belongs to the app whose identity_pools contain the pool; a pool of no
            app does not exist.

            CloudKit Web Services: subscriptions/modify, list and lookup, and tokens/create and
            register; what tokens/create hands out is fetched under /courier.
            The container is iCloud. and the app's bundle identifier. ckAPIToken is such a
            token (so it is a secret here), and ckWebAuthToken the name of the user on whose
            behalf its holder acts. Servers may sign their requests instead, with a key of
            [registry] server_keys, for the public database. Browsers may use it from the pages
            of [registry] allowed_origins.

            Each key and token may make [registry] requests_per_second, and what clients keep
            has quotas. A request by another name than that of public_url or hosts is answered
            with 421. Name a proxy that stands in front in trusted_proxies.

            It listens at [registry] listen, or 127.0.0.1:8080, and prints a line with its
            address when it is ready. An address that other machines reach needs [registry]
            certificate_file and key_file, which are read again within seconds when they
            change, and at once at SIGHUP. With [admin] listen it answers /livez, /readyz,
            /metrics and /version there. The registry is made if it is not there yet. The log
            goes to standard error.
            """,
        examples: [
            .init("apus registry", "Serves the registry of apus.toml in this folder at 127.0.0.1:8080."),
            .init(
                "apus registry --set registry.listen=0.0.0.0:8443 --set registry.certificate_file=cert.pem "
                    + "--set registry.key_file=key.pem --set registry.public_url=https://push.example.com:8443",
                "Serves it to other machines, with TLS, by the name in its certificate."),
            .init(
                "curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:8080/v1/devices?userId=mei",
                "Lists the devices of a user."),
            .init(
                "aws cognito-sync register-device --endpoint-url http://127.0.0.1:8080 --platform APNS --token 00fc… "
                    + "--identity-pool-id us-east-1:177a… --identity-id us-east-1:be6f…",
                "Registers a device with Amazon's own command, given the access key as it wants it."),
        ],
        exitCodes: [.configuration, .unavailable, .noPermission]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .registryServer).configuration
        let logger = LogSink(configuration.log).logger(minimum: configuration.log.level)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        let address = configuration.registryAPI.listen ?? Configuration.RegistryAPI.standardListen
        do {
            let api = try configuration.registryServer(at: address, mode: .create, metrics: metrics, logger: logger)
            configuration.warnOfLooseModes(logger)
            let admin = try startAdminServer(api, configuration.admin, metrics: metrics)
            if let admin { logger.log(.info, "admin.listening", [.field("port", Int(admin.port))]) }
            announce(api, address, usesTLS: configuration.registryAPI.certificateFile != nil, to: invocation)
            let certificate = try CertificateWatcher(configuration.registryAPI, of: api, logger: logger)
            stop.onHangUp { certificate?.reread() }
            await stop.wait()
            api.stop()
            admin?.stop()
            return .ok
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }

    private func announce(
        _ api: RegistryServer, _ address: HostPort, usesTLS: Bool, to invocation: CommandInvocation
    ) {
        let place = "\(usesTLS ? "https" : "http")://\(HostPort(host: address.host, port: api.port))"
        invocation.output.line(
            invocation.isJSON ? #"{"endpoint":"\#(place)","port":\#(api.port)}"# : "ready at \(place)")
        invocation.output.flush()
    }

    private func startAdminServer(
        _ api: RegistryServer, _ configuration: Configuration.Admin, metrics: MetricsRegistry
    ) throws(CommandFailure) -> AdminServer? {
        guard let address = configuration.listen else { return nil }
        let routes = AdminRoutes(
            liveness: { [api.livenessCheck] }, readiness: { [HealthCheck("registry", failure: api.failure)] },
            metrics: { metrics.render() },
            product: "apus",
            version: ProductVersion.current)
        do {
            return try AdminServer(
                host: address.host, port: address.port, names: configuration.hosts, routes: routes)
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }
}
