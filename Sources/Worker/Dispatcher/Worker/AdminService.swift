import AdminServer
import DispatchCore
import HTTPServer
public import OperatorPage
import RegistryCore
import StructuredLogging
import Synchronization
public import WorkerConfiguration

/// The admin server of a process together with the operator's page.
public final class AdminService: Sendable {
    /// The page, which a reload replaces.
    private final class PageSlot: HTTPHandler {
        let page: Mutex<OperatorPage?>

        init(_ page: OperatorPage?) { self.page = Mutex(page) }

        func serves(_ request: HTTPRequest) -> Bool { page.withLock { $0 }?.serves(request) ?? false }

        func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
            page.withLock { $0 }?.admit(request, bodyBytes: bodyBytes) ?? .refuse(Self.gone)
        }

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            page.withLock { $0 }?.answer(request) ?? .now(Self.gone)
        }

        private static let gone = HTTPResponse.text(404, "the operator's page has just been switched off")
    }

    /// The port that it listens on.
    public var port: UInt16 { server.port }
    private let server: AdminServer
    private let slot: PageSlot
    private let process: String
    private let version: String
    private let hasBroker: Bool
    private let logger: Logger

    /// Begins to serve; nil if the configuration wants no admin server.
    ///
    /// - Parameters:
    ///   - configuration: where, and whether with the page.
    ///   - routes: the answers about health and metrics.
    ///   - process: the name of this process among the workers.
    ///   - hasBroker: whether the page may ask RabbitMQ.
    ///   - logger: where the page's actions are logged.
    /// - Throws: `WorkerError` if the address or a thread cannot be had.
    init?(
        _ configuration: Configuration, routes: AdminRoutes, process: String, hasBroker: Bool, logger: Logger
    ) throws(WorkerError) {
        guard let address = configuration.admin.listen else { return nil }
        self.process = process
        self.hasBroker = hasBroker
        self.logger = logger
        version = routes.version.version
        do {
            let slot = PageSlot(
                try configuration.operatorPage(
                    process: process, version: version, hasBroker: hasBroker, logger: logger))
            self.slot = slot
            server = try AdminServer(
                host: address.host, port: address.port, names: configuration.admin.hosts, routes: routes,
                page: AdminPage(handler: slot, bodyBytesMaximum: OperatorPage.bodyBytesMaximum) { slot.serves($0) })
        } catch {
            throw WorkerError(.unavailable, "\(error)")
        }
        logger.log(
            .info, "admin.listening",
            [.field("port", Int(server.port)), .field("page", configuration.admin.page?.path ?? "")])
    }

    /// Serves the page of another configuration, and interrupts the background work of the old page.
    ///
    /// - Throws: `WorkerError` if a URL cannot be read, or there is no thread; the old page stays.
    func reload(_ configuration: Configuration) throws(WorkerError) {
        let page: OperatorPage?
        do {
            page = try configuration.operatorPage(
                process: process, version: version, hasBroker: hasBroker, logger: logger)
        } catch {
            throw WorkerError(starting: error)
        }
        let old = slot.page.withLock { current in
            defer { current = page }
            return current
        }
        old?.stop()
    }

    /// Closes the port, and ends all threads.
    public func stop() {
        server.stop()
        slot.page.withLock { $0 }?.stop()
    }
}

extension Configuration {
    /// RabbitMQ for the operator's page of a worker.
    ///
    /// - Throws: `WorkerError` if a URL cannot be read.
    private func pageBroker() throws(WorkerError) -> any PageBroker {
        let registry = registry
        do {
            return PageBrokerAdapter(
                try broker(purpose: "page"),
                retryDelaysMilliseconds: retry.delays.map { Int64($0.milliseconds) },
                openRegistry: { () throws(RegistryError) in try registry.open(mode: .readWrite) })
        } catch {
            throw WorkerError(starting: error)
        }
    }

    /// The view of all workers together, for programs that are no browsers; it reads, and changes nothing.
    ///
    /// - Throws: `WorkerError` if a URL cannot be read, or there is no thread.
    public func deploymentView() throws(WorkerError) -> OperatorPage {
        var options = OperatorPageConfiguration(path: "/", process: "", version: "")
        options.apps = pipeline.apps
        options.sources = pipeline.sources
        let registry = registry
        let broker = try pageBroker()
        do {
            return try OperatorPage(
                options, openRegistry: { () throws(RegistryError) in try registry.open(mode: .readOnly) },
                broker: broker, logger: .silent)
        } catch {
            throw WorkerError(starting: error)
        }
    }

    fileprivate func operatorPage(
        process: String, version: String, hasBroker: Bool, logger: Logger
    ) throws -> OperatorPage? {
        guard let page = admin.page else { return nil }
        let broker = hasBroker ? try pageBroker() : nil
        var options = OperatorPageConfiguration(path: page.path, process: process, version: version)
        options.apps = pipeline.apps
        options.sources = pipeline.sources
        if let path = page.usersFile { options.readUsers = { try ConfigurationFile.read(path) } }
        options.userHeader = page.userHeader
        options.trustedProxies = page.trustedProxies
        options.operators = page.operators
        options.allowedOrigins = page.allowedOrigins
        options.servesAllHosts = admin.hosts.contains("*")
        options.showsPayloads = page.showsPayloads
        options.keepsHistory = history.isKept
        if !options.hasLogin, admin.listen?.isLoopback == false {
            logger.log(
                .info, "page.off",
                [
                    .field("reason", "no login is configured, so only this machine's users are served"),
                    .field("advice", "Set admin.users_file, or admin.user_header with admin.trusted_proxies."),
                ])
        }
        let registry = registry
        return try OperatorPage(
            options, openRegistry: { () throws(RegistryError) in try registry.open(mode: .readWrite) },
            broker: broker, logger: logger)
    }
}
