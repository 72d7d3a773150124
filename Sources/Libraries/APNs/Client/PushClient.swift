internal import APNsTransport
internal import Metrics
import Notifications
@_exported public import PushLibrary
internal import ServiceClient
import StructuredLogging

/// Sends pushes to APNs, for one app or several, over connections that it keeps.
///
/// Make one for the life of the program and close it at its end. All of it may be used from any task at once. The
/// client itself resends a push that was certainly not processed, a few times; every other outcome is a result.
public final class PushClient: Sendable {
    let sender: PushSender
    /// By the number of the route.
    private let bundleIDs: [String]

    /// Prepares a client for some apps; it begins to connect at once.
    ///
    /// - Parameters:
    ///   - configurations: the apps, each with a name of its own; calls that name none use the first.
    ///   - logHandler: logs the events of connections and provider tokens; nil logs nothing.
    ///   - metricsFactory: makes the instruments of each app; nil measures nothing.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`, `systemFailed`), which says what to correct.
    public init(
        _ configurations: [PushConfiguration], logHandler: (any PushLogHandler)? = nil,
        metricsFactory: (any PushMetricsFactory)? = nil
    ) throws(PushError) {
        let names = configurations.map(\.name)
        try PushSender.requireDistinct(names)
        bundleIDs = configurations.map(\.bundleID)
        let routes = try configurations.map { configuration throws(PushError) in try configuration.makeRoute() }
        do throws(ServiceError) {
            let client = try APNsClient(
                configuration: APNsClientConfiguration(routes: routes), logger: Logger(logHandler),
                metrics: MetricsRegistry())
            sender = PushSender(client, names: names, label: "apns", metricsFactory: metricsFactory)
        } catch { throw PushError(error) }
    }

    /// Prepares a client for one app; it begins to connect at once.
    ///
    /// - Parameters:
    ///   - configuration: the app.
    ///   - logHandler: logs the events of connections and provider tokens; nil logs nothing.
    ///   - metricsFactory: makes the instruments; nil measures nothing.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`, `systemFailed`), which says what to correct.
    public convenience init(
        _ configuration: PushConfiguration, logHandler: (any PushLogHandler)? = nil,
        metricsFactory: (any PushMetricsFactory)? = nil
    ) throws(PushError) {
        try self.init([configuration], logHandler: logHandler, metricsFactory: metricsFactory)
    }

    // MARK: Sending

    /// Sends to one device.
    ///
    /// If the task is cancelled it returns at once, with a failure.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - token: the device's token.
    ///   - name: the configuration; nil for the first.
    /// - Returns: its result.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func send(
        _ message: PushMessage, to token: PushToken, using name: String? = nil
    ) async throws(PushError) -> PushResult {
        await (try call(message, name)).send(to: token)
    }

    /// Sends to many devices, and waits for all.
    ///
    /// If the task is cancelled, it returns at once: pushes in flight and unsent ones have a failure that says so. For
    /// more tokens than results should fit into memory, use `results(of:to:)`.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: the devices' tokens.
    ///   - name: the configuration; nil for the first.
    /// - Returns: a result for each token, in the order of the tokens.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func send(
        _ message: PushMessage, to tokens: [PushToken], using name: String? = nil
    ) async throws(PushError) -> [PushResult] {
        await (try call(message, name)).send(to: tokens)
    }

    /// Sends to devices as their tokens come, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: the devices' tokens, any number; they are taken only as fast as results are read.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once; if the tokens can throw, so can the results.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func results<Tokens: AsyncSequence & Sendable>(
        of message: PushMessage, to tokens: Tokens, using name: String? = nil
    ) throws(PushError) -> StreamedPushResults<Tokens> where Tokens.Element == PushToken {
        try call(message, name).results(to: tokens)
    }

    /// Sends to many devices, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: the devices' tokens, any number; a lazy sequence (`.lazy.map`) is read only as fast as results are.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func results<Tokens: Sequence>(
        of message: PushMessage, to tokens: Tokens, using name: String? = nil
    ) throws(PushError) -> PushResults<Tokens> where Tokens.Element == PushToken {
        try call(message, name).results(to: tokens)
    }

    private func call(
        _ message: PushMessage, _ name: String?
    ) throws(PushError) -> PushCall<PushToken, PushResult> {
        let route = try sender.route(name)
        let identity = PushIdentity(source: "", identifier: message.identifier)
        let order = PushOrder(
            content: try message.content(bundleID: bundleIDs[route]), route: route, identity: identity)
        return PushCall(order, by: sender, token: \.deviceToken) { token, outcome in
            PushResult(
                token: PushToken(token), apnsID: identity.apnsID(for: token).description,
                outcome: PushOutcome(outcome, rejection: PushRejection.init))
        }
    }

    // MARK: The end

    /// Closes the connections in order: pushes in flight get a few seconds for their answers; waiting and later pushes
    /// end as not processed.
    public func close() async { await sender.close() }

    /// Returns when the client has been closed; closes it when the task is cancelled.
    ///
    /// It is the `run()` of ServiceLifecycle's `Service`: a graceful shutdown that cancels it lets pushes in flight
    /// have their answers.
    public func run() async { await sender.run() }
}
