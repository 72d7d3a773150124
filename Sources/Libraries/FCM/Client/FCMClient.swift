internal import FCMTransport
internal import Metrics
internal import Notifications
@_exported public import PushLibrary
internal import ServiceClient
internal import StructuredLogging

/// Sends messages through Firebase Cloud Messaging, for one project or several, over connections that it keeps.
///
/// Make one for the life of the program and close it at its end. All of it may be used from any task at once. The
/// client itself fetches and renews access tokens, and resends a message that was certainly not processed, a few times;
/// every other outcome is a result.
public final class FCMClient: Sendable {
    private let sender: PushSender

    /// Prepares a client for some projects; it begins to connect at once.
    ///
    /// - Parameters:
    ///   - configurations: the projects, each with a name of its own; calls that name none use the first.
    ///   - logHandler: logs the events of connections and access tokens; nil logs nothing.
    ///   - metricsFactory: makes the instruments of each configuration; nil measures nothing.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`, `systemFailed`), which says what to correct.
    public init(
        _ configurations: [FCMConfiguration], logHandler: (any PushLogHandler)? = nil,
        metricsFactory: (any PushMetricsFactory)? = nil
    ) throws(PushError) {
        let names = configurations.map(\.name)
        try PushSender.requireDistinct(names)
        let logger = Logger(logHandler)
        let metrics = MetricsRegistry()
        let (routes, tokens) = try AccessTokenSources<ServiceAccountCredentials>.forRoutes { tokens throws(PushError) in
            var routes: [ServiceRoute] = []
            for configuration in configurations {
                routes.append(try configuration.makeRoute(&tokens, logger, metrics))
            }
            return routes
        }
        do throws(ServiceError) {
            let client = try ServiceClient(routes: routes, loopName: "fcm", logger: logger, metrics: metrics)
            sender = PushSender(client, names: names, label: "fcm", metricsFactory: metricsFactory) { tokens.stop() }
        } catch {
            tokens.stop()
            throw PushError(error)
        }
    }

    /// Prepares a client for one project; it begins to connect at once.
    ///
    /// - Parameters:
    ///   - configuration: the project.
    ///   - logHandler: logs the events of connections and access tokens; nil logs nothing.
    ///   - metricsFactory: makes the instruments; nil measures nothing.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`, `systemFailed`), which says what to correct.
    public convenience init(
        _ configuration: FCMConfiguration, logHandler: (any PushLogHandler)? = nil,
        metricsFactory: (any PushMetricsFactory)? = nil
    ) throws(PushError) {
        try self.init([configuration], logHandler: logHandler, metricsFactory: metricsFactory)
    }

    // MARK: Sending

    /// Sends to one installation.
    ///
    /// If the task is cancelled it returns at once, with a failure.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - target: the installation.
    ///   - name: the configuration; nil for the first.
    /// - Returns: its result.
    /// - Throws: `PushError` (`configurationUnknown`) before anything was sent.
    public func send(
        _ message: FCMMessage, to target: FCMTarget, using name: String? = nil
    ) async throws(PushError) -> FCMResult {
        await (try call(message, name)).send(to: target)
    }

    /// Sends to many installations, and waits for all.
    ///
    /// If the task is cancelled, it returns at once: messages in flight and unsent ones have a failure that says so.
    /// For more targets than results should fit into memory, use `results(of:to:)`.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - targets: the installations.
    ///   - name: the configuration; nil for the first.
    /// - Returns: a result for each target, in the order of the targets.
    /// - Throws: `PushError` (`configurationUnknown`) before anything was sent.
    public func send(
        _ message: FCMMessage, to targets: [FCMTarget], using name: String? = nil
    ) async throws(PushError) -> [FCMResult] {
        await (try call(message, name)).send(to: targets)
    }

    /// Sends to installations as their targets come, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - targets: the installations, any number; they are taken only as fast as results are read.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once; if the targets can throw, so can the results.
    /// - Throws: `PushError` (`configurationUnknown`) before anything was sent.
    public func results<Targets: AsyncSequence & Sendable>(
        of message: FCMMessage, to targets: Targets, using name: String? = nil
    ) throws(PushError) -> StreamedPushResultSequence<Targets, FCMResult> where Targets.Element == FCMTarget {
        try call(message, name).results(to: targets)
    }

    /// Sends to many installations, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - targets: the installations, any number; a lazy sequence (`.lazy.map`) is read only as fast as results are.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once.
    /// - Throws: `PushError` (`configurationUnknown`) before anything was sent.
    public func results<Targets: Sequence>(
        of message: FCMMessage, to targets: Targets, using name: String? = nil
    ) throws(PushError) -> PushResultSequence<Targets, FCMResult> where Targets.Element == FCMTarget {
        try call(message, name).results(to: targets)
    }

    private func call(
        _ message: FCMMessage, _ name: String?
    ) throws(PushError) -> PushCall<FCMTarget, FCMResult> {
        let order = PushOrder(content: message.content, route: try sender.route(name))
        return PushCall(order, by: sender, token: \.deviceToken) { FCMResult(FCMTarget($0), $1) }
    }

    // MARK: The end

    /// Closes the connections in order: messages in flight get a few seconds for their answers; waiting and later
    /// messages end as not processed.
    public func close() async { await sender.close() }

    /// Returns when the client has been closed; closes it when the task is cancelled.
    ///
    /// It is the `run()` of ServiceLifecycle's `Service`: a graceful shutdown that cancels it lets messages in flight
    /// have their answers.
    public func run() async { await sender.run() }
}
