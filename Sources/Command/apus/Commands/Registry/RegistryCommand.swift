import Dispatcher
import Metrics
import ServiceManager
import WorkerConfiguration

/// `apus registry`.
struct RegistryCommand: Command {
    let name = "registry"
    let summary = "Serve the registry's HTTP API, without a worker"
    let help = CommandHelp(
        discussion: """
            Serves the registry over HTTP until SIGTERM or SIGINT. 'apus run' serves the same API
            if [registry] listen is set. The API has three forms:

            Native JSON under /v1, described by /openapi.json: devices with their badges,
            datasets and topics. A request bears a token from 'apus registry token add'.

            Amazon Cognito Sync: RegisterDevice, SubscribeToDataset, UnsubscribeFromDataset,
            GetIdentityPoolConfiguration and SetIdentityPoolConfiguration. Clients change only
            their endpoint URL. Requests are signed (Signature Version 4, service cognito-sync,
            any region) with an access key of [registry] access_keys or access_keys_file. A line
            of the file is
              ID SECRET
              ID SECRET POOL ...
            This command creates one:
              echo "AKID$(openssl rand -hex 8) $(openssl rand -hex 20)" >> access-keys
            A device belongs to the app whose identity_pools contain the pool; other pools do not
            exist.

            CloudKit Web Services: subscriptions/modify, list and lookup; tokens/create and
            register. Notifications for tokens/create are fetched under /courier. The container is
            iCloud. and the app's bundle identifier. ckAPIToken is a token from 'apus registry
            token add', and a secret here. ckWebAuthToken names the user of the request. Servers may
            sign requests to the public database instead, with a key of [registry] server_keys.
            Browsers may use the API from the pages of [registry] allowed_origins.

            [registry] requests_per_second limits each key and token, and [registry.quotas] limits
            stored data. A request for an unknown host name is answered with 421: see public_url and
            hosts. Name a proxy in front of the API in trusted_proxies.

            The API listens at [registry] listen, or 127.0.0.1:8080, and prints its address when it
            is ready. An address that other machines reach needs [registry] certificate_file and
            key_file. Changed files are read again within seconds, and at once at SIGHUP. At
            [admin] listen it serves /livez, /readyz, /metrics, /version and the operator's page; beside
            a worker on the same machine it needs another port there. A missing registry is created. The
            log goes to standard error.
            """,
        examples: [
            .init("apus registry", "Serves the registry of apus.toml in this folder at 127.0.0.1:8080."),
            .init(
                "apus registry --set registry.listen=0.0.0.0:8443 --set registry.certificate_file=cert.pem "
                    + "--set registry.key_file=key.pem --set registry.public_url=https://push.example.com:8443",
                "Serves it to other machines, with TLS and the host name of the certificate."),
            .init(
                "curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:8080/v1/devices?userId=mei",
                "Lists the devices of a user."),
            .init(
                "aws cognito-sync register-device --endpoint-url http://127.0.0.1:8080 --platform APNS --token 00fc… "
                    + "--identity-pool-id us-east-1:177a… --identity-id us-east-1:be6f…",
                "Registers a device with Amazon's command line, which needs the access key."),
        ],
        exitCodes: [.configuration, .unavailable, .noPermission]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let loaded = try invocation.loadConfiguration(for: .registryServer)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        do {
            let host = try RegistryHost(loaded, version: ProductVersion.current, metrics: metrics)
            let service = invocation.serviceNotifier(on: stop.loop, host.logger)
            try host.start()
            announce(host, loaded.configuration.registryAPI, to: invocation)
            service.observe(host.adminRoutes)
            let loader = try invocation.configurationLoader()
            await stop.wait {
                service.reloadBegan()
                await host.reload { () throws(ConfigurationError) in try loader.load(for: .registryServer) }
                service.reloadEnded()
            }
            service.stopBegan()
            await host.stop()
            return .ok
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }

    private func announce(
        _ host: RegistryHost, _ configuration: Configuration.RegistryAPI, to invocation: CommandInvocation
    ) {
        let address = configuration.listen ?? Configuration.RegistryAPI.standardListen
        let scheme = configuration.certificateFile == nil ? "http" : "https"
        let endpoint = "\(scheme)://\(HostPort(host: address.host, port: host.port))"
        invocation.output.line(
            invocation.isJSON ? #"{"endpoint":"\#(endpoint)","port":\#(host.port)}"# : "ready at \(endpoint)")
        invocation.output.flush()
    }
}

/// `apus registry` and the commands below it.
enum RegistryCommands {
    /// The command and its own commands.
    static let node = CommandNode.parent(
        RegistryCommand(),
        nodes: [
            TokenCommands.node, .command(RegistryMigrateCommand()), .command(RegistryBackupCommand()),
            .command(RegistryCopyCommand()),
        ])
}
