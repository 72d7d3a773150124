import Notifications
import PostgresRegistry
import PushCore

extension ConfigurationReader {
    /// Reads everything but the apps.
    mutating func readConfiguration() -> Configuration {
        Configuration(
            rabbitMQ: readRabbitMQ(), registry: readRegistry(), registryAPI: readRegistryAPI(), retry: readRetry(),
            fanOut: Configuration.FanOut(
                thresholdDevices: integer(.fanOutThreshold), chunkDevices: integer(.fanOutChunk)),
            admin: readAdmin(), log: readLog(), worker: readWorker(),
            outcomes: Configuration.Outcomes(patience: timeSpan(.outcomesPatience)),
            analytics: Configuration.Analytics(
                isEnabled: boolean(.analyticsEnabled), retention: timeSpan(.analyticsRetention),
                queueMessagesMaximum: integer(.analyticsQueueMaximum)),
            webPush: readWebPush(), apps: readApps())
    }

    private mutating func readRabbitMQ() -> Configuration.RabbitMQ {
        let caFile = readCertificateFile(.rabbitMQCAFile)
        let namespace = text(.rabbitMQNamespace)
        if !Self.isName(namespace, allowing: "-_") {
            fail(
                .rabbitMQNamespace, "\(namespace.quoted) is invalid",
                "give 1 to 64 letters, digits, '-', '_'")
        }
        let prefetch = integer(.rabbitMQPrefetch)
        if prefetch < 100 {
            warn(
                .rabbitMQPrefetch, "\(prefetch) is low", "below 100 a worker mostly waits for the broker")
        }
        let workQueueCount = integer(.rabbitMQWorkQueues)
        if prefetch < workQueueCount {
            fail(
                .rabbitMQWorkQueues, "\(workQueueCount) queues cannot share a prefetch of \(prefetch)",
                "set rabbitmq.prefetch to \(workQueueCount) or more")
        }
        return Configuration.RabbitMQ(
            urls: readBrokerURLs(), caFile: caFile, namespace: namespace, prefetch: prefetch,
            workQueueCount: workQueueCount, managementURL: readManagementURL())
    }

    private mutating func readManagementURL() -> Secret? {
        let url = text(.rabbitMQManagementURL)
        guard !url.isEmpty else { return nil }
        let hasScheme = url.hasPrefix("http://") || url.hasPrefix("https://")
        if !hasScheme || url.hasSuffix("://") || url.contains("?") || url.contains("#") {
            fail(
                .rabbitMQManagementURL, "the URL is not one of RabbitMQ's management API",
                "write http://HOST:15672 or https://HOST:15671, without a query")
        }
        return Secret(url)
    }

    private mutating func readBrokerURLs() -> [Secret] {
        let urls = texts(.rabbitMQURL)
        let shape = "write amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://…"
        if urls.isEmpty { fail(.rabbitMQURL, "there is no broker", shape) }
        var usesGuest = false
        var holdsSecret = false
        for (index, text) in urls.enumerated() {
            do {
                let url = try BrokerURL(text)
                usesGuest = usesGuest || url.user == "guest"
                holdsSecret = holdsSecret || url.holdsSecret
            } catch {
                fail(.rabbitMQURL, (urls.count > 1 ? "URL \(index + 1): " : "") + error.message, shape)
            }
        }
        if usesGuest {
            warn(
                .rabbitMQURL, "the user is guest, RabbitMQ's built-in administrator, who may only log in locally",
                "create a separate user for production")
        }
        if holdsSecret, case .file(let path, _) = origin(of: .rabbitMQURL), ConfigurationFile.isReadableByOthers(path) {
            warn(
                .rabbitMQURL, "the file holds a password, and other users can read it",
                "run 'chmod 600 \(path)', or use APUS_RABBITMQ_URL_FILE")
        }
        return urls.map { Secret($0) }
    }

    private mutating func readRegistry() -> Configuration.RegistryLocation {
        let url = text(.registryURL)
        let scheme = url.prefix { $0 != ":" }
        var path = String(url.dropFirst(scheme.count + 1))
        if path.hasPrefix("//") { path.removeFirst(2) }
        let remedy = "write sqlite:PATH, for example sqlite:/var/lib/apus/registry.db, or postgresql://…"
        if scheme == "postgres" || scheme == "postgresql" { return readPostgresRegistry(url) }
        if scheme != "sqlite" || path.isEmpty {
            fail(.registryURL, "the URL does not begin with sqlite:, or has no path", remedy)
        } else if path == ":memory:" {
            fail(.registryURL, "a registry in memory would be empty in every process", remedy)
        }
        return .sqlite(path: resolved(path, of: .registryURL) ?? "")
    }

    private mutating func readPostgresRegistry(_ url: String) -> Configuration.RegistryLocation {
        do throws(RegistryError) {
            let location = try PostgresLocation(url: url)
            if location.holdsPassword, case .file(let path, _) = origin(of: .registryURL),
                ConfigurationFile.isReadableByOthers(path)
            {
                warn(
                    .registryURL, "the file holds a password, and other users can read it",
                    "run 'chmod 600 \(path)', or use APUS_REGISTRY_URL_FILE")
            }
            if !location.isLocal, !location.verifiesServer {
                warn(
                    .registryURL, "the connection to \(location.address) does not verify the server",
                    "add ?sslmode=verify-full, and &sslrootcert=FILE for a certificate authority of your own")
            }
        } catch {
            fail(
                .registryURL, "the PostgreSQL URL is malformed",
                "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters of the password as %XX")
        }
        return .postgres(url: Secret(url))
    }

    private mutating func readRetry() -> Configuration.Retry {
        let delays = timeSpans(.retryDelays)
        if !(1...16).contains(delays.count) {
            fail(.retryDelays, "\(delays.count) steps", "give 1 to 16 durations")
        }
        if zip(delays, delays.dropFirst()).contains(where: { $0 >= $1 }) {
            fail(.retryDelays, "the steps are not ascending and distinct", "make each step longer than the last one")
        }
        let retry = Configuration.Retry(
            delays: delays, attemptsMaximum: integer(.retryAttemptsMaximum), ageMaximum: timeSpan(.retryAgeMaximum),
            serverErrorDelay: timeSpan(.retryServerErrorDelay))
        if let last = delays.last, last < retry.serverErrorDelay {
            warn(
                .retryDelays, "no step is as long as retry.server_error_delay (\(retry.serverErrorDelay))",
                "after a 500 or 503 the last step (\(last)) is used; Apple asks for 15 minutes")
        }
        return retry
    }

    private mutating func readAdmin() -> Configuration.Admin {
        let listen = text(.adminListen)
        let address = HostPort(listen)
        if !listen.isEmpty, address == nil {
            fail(
                .adminListen, "\(listen.quoted) is invalid", "write HOST:PORT, or \"\" for no admin server")
        }
        return Configuration.Admin(listen: address, hosts: readHosts(.adminHosts), page: readPage(listen: address))
    }

    private mutating func readLog() -> Configuration.Log {
        let level = text(.logLevel)
        let format = text(.logFormat)
        return Configuration.Log(
            level: LogLevel.allCases.first { "\($0)" == level } ?? .info,
            format: Configuration.Log.Format(rawValue: format) ?? .auto)
    }

    private mutating func readWorker() -> Configuration.Worker {
        let worker = Configuration.Worker(
            drainTimeout: timeSpan(.workerDrainTimeout), pushTimeout: timeSpan(.workerPushTimeout),
            declaresTopology: boolean(.workerDeclaresTopology))
        if worker.drainTimeout < worker.pushTimeout {
            warn(
                .workerDrainTimeout, "\(worker.drainTimeout) is less than worker.push_timeout (\(worker.pushTimeout))",
                "a stopping worker may abandon pushes that a push service would still have answered")
        }
        return worker
    }

    // MARK: Shapes

    /// Whether a text is 1 to 64 letters, digits and the given other characters.
    static func isName(_ text: String, allowing others: String, countMaximum: Int = 64) -> Bool {
        (1...countMaximum).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
    }

    /// Reads a key that names a PEM file of certificates.
    mutating func readCertificateFile(_ key: ConfigurationKey, app: Int? = nil) -> String? {
        guard let path = resolved(text(key, app: app), of: key, app: app) else { return nil }
        guard checksFile(of: key) else { return path }
        do {
            let bytes = try ConfigurationFile.read(path)
            if !String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") {
                fail(
                    key, app: app, "\(path) holds no certificate",
                    "name a file in PEM form (-----BEGIN CERTIFICATE-----)")
            }
        } catch {
            fail(
                key, app: app, "cannot read \(path): \(error.message)", error.remedy, isTransient: error.isTransient)
        }
        return path
    }
}
