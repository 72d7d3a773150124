internal import Metrics
@_exported public import PushLibrary
internal import ServiceClient
internal import StructuredLogging
internal import WebPushTransport

/// Sends encrypted pushes to browsers, each through the push service that its subscription names.
///
/// Make one for the life of the program and close it at its end. All of it may be used from any task at once. The
/// client itself encrypts each push, signs and renews VAPID tokens, and resends a push that was certainly not
/// processed, a few times; every other outcome is a result.
public final class WebPushClient: Sendable {
    private let sender: PushSender

    /// Prepares a client; it connects to a push service with the first push to it.
    ///
    /// - Parameters:
    ///   - configuration: the key, the subject and the bounds.
    ///   - logHandler: logs the events of connections; nil logs nothing.
    ///   - metricsFactory: makes the instruments; nil measures nothing.
    /// - Throws: `PushError` (`configurationInvalid`, `systemFailed`), which says what to correct.
    public init(
        _ configuration: WebPushConfiguration, logHandler: (any PushLogHandler)? = nil,
        metricsFactory: (any PushMetricsFactory)? = nil
    ) throws(PushError) {
        let transportConfiguration = try configuration.makeTransportConfiguration()
        do throws(ServiceError) {
            let client = try WebPushServiceClient(
                configuration: transportConfiguration, logger: Logger(logHandler), metrics: MetricsRegistry())
            sender = PushSender(
                client, names: [configuration.name], label: "webpush", metricsFactory: metricsFactory)
        } catch { throw PushError(error) }
    }

    // MARK: Sending

    /// Sends to one browser.
    ///
    /// If the task is cancelled it returns at once, with a failure.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - subscription: the browser's subscription.
    /// - Returns: its result.
    public func send(_ message: WebPushMessage, to subscription: WebPushSubscription) async -> WebPushResult {
        await call(message).send(to: subscription)
    }

    /// Sends to many browsers, and waits for all.
    ///
    /// If the task is cancelled, it returns at once: pushes in flight and unsent ones have a failure that says so. For
    /// more subscriptions than results should fit into memory, use `results(of:to:)`.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - subscriptions: the browsers' subscriptions.
    /// - Returns: a result for each subscription, in their order.
    public func send(_ message: WebPushMessage, to subscriptions: [WebPushSubscription]) async -> [WebPushResult] {
        await call(message).send(to: subscriptions)
    }

    /// Sends to browsers as their subscriptions come, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - subscriptions: the browsers' subscriptions, any number; they are taken only as fast as results are read.
    /// - Returns: the results, to be iterated once; if the subscriptions can throw, so can the results.
    public func results<Subscriptions: AsyncSequence & Sendable>(
        of message: WebPushMessage, to subscriptions: Subscriptions
    ) -> StreamedPushResultSequence<Subscriptions, WebPushResult>
    where Subscriptions.Element == WebPushSubscription { call(message).results(to: subscriptions) }

    /// Sends to many browsers, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - subscriptions: the browsers' subscriptions, any number; a lazy sequence (`.lazy.map`) is read only as fast
    ///     as results are.
    /// - Returns: the results, to be iterated once.
    public func results<Subscriptions: Sequence>(
        of message: WebPushMessage, to subscriptions: Subscriptions
    ) -> PushResultSequence<Subscriptions, WebPushResult>
    where Subscriptions.Element == WebPushSubscription { call(message).results(to: subscriptions) }

    private func call(_ message: WebPushMessage) -> PushCall<WebPushSubscription, WebPushResult> {
        PushCall(PushOrder(content: message.content, route: 0), by: sender, token: \.deviceToken) {
            WebPushResult(WebPushSubscription($0), $1)
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
