internal import APNsTransport
internal import Metrics
import Notifications
internal import ServiceClient
internal import Synchronization

/// Sends pushes to APNs, for one app or several, over connections that it keeps.
///
/// Make one for the life of the program and close it at its end. All of it may be used from any task at once. The
/// client itself resends a push that was certainly not processed, a few times; every other outcome is a result.
public final class PushClient: Sendable {
    /// How many pushes of one call are out at a time; more wait with the caller.
    private static let windowCount = 4_096

    private struct Route: Sendable {
        var index: Int
        var bundleID: String
        var instruments: PushInstruments?
    }

    private struct State {
        var isClosed = false
        /// The tasks that wait for the end, by a number each.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
    }

    private let client: APNsClient
    let jobs = PushJobs()
    private let routes: [String: Route]
    private let defaultName: String
    private let state = Mutex(State())

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
        guard let first = configurations.first else {
            throw PushError(.configurationInvalid, "a client needs at least one configuration")
        }
        defaultName = first.name
        var routes: [String: Route] = [:]
        var transportRoutes: [APNsRoute] = []
        for configuration in configurations {
            guard routes[configuration.name] == nil else {
                throw PushError(.configurationInvalid, "two configurations are named \"\(configuration.name)\"")
            }
            routes[configuration.name] = Route(
                index: transportRoutes.count, bundleID: configuration.bundleID,
                instruments: metricsFactory.map { PushInstruments(app: configuration.name, factory: $0) })
            transportRoutes.append(try configuration.makeRoute())
        }
        self.routes = routes
        do throws(ServiceError) {
            client = try APNsClient(
                configuration: APNsClientConfiguration(routes: transportRoutes),
                logger: logHandler.map { Logger($0) } ?? .silent, metrics: MetricsRegistry())
        } catch { throw PushError(error) }
        client.start(handler: jobs)
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

    deinit {
        // Its thread and connections end even if `close` was never called.
        let client = client
        Task { await client.close() }
    }

    // MARK: Sending

    /// Sends to one device.
    ///
    /// If the task is cancelled it returns at once, with a failure.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - token: whom to.
    ///   - name: the configuration; nil for the first.
    /// - Returns: its result.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func send(
        _ message: PushMessage, to token: PushToken, using name: String? = nil
    ) async throws(PushError) -> PushResult {
        let results = try await send(message, to: [token], using: name)
        return results[0]
    }

    /// Sends to many devices, and waits for all.
    ///
    /// If the task is cancelled, it returns at once: pushes in flight and unsent ones have a failure that says so. For
    /// more tokens than results should fit into memory, use `results(of:to:)`.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: whom to.
    ///   - name: the configuration; nil for the first.
    /// - Returns: a result for each token, in the order of the tokens.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func send(
        _ message: PushMessage, to tokens: [PushToken], using name: String? = nil
    ) async throws(PushError) -> [PushResult] {
        let job = try prepare(message, name)()
        return await withTaskCancellationHandler {
            await Self.run(job, tokens)
        } onCancel: {
            job.cancel()
        }
    }

    private static func run(_ job: PushJob, _ tokens: [PushToken]) async -> [PushResult] {
        var results: [PushResult?] = Array(repeating: nil, count: tokens.count)
        var next = 0
        while true {
            let count = min(max(0, job.room), tokens.count - next)
            job.send(to: Array(tokens[next..<next + count]))
            next += count
            if next == tokens.count { job.exhausted() }
            let ended = await job.nextResults()
            for (index, result) in ended { results[index] = result }
            if ended.isEmpty { break }
        }
        return zip(tokens, results).map { token, result in result ?? job.unsent(token) }
    }

    /// Sends to devices as their tokens come, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: whom to, any number; they are taken only as fast as results are read.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once; if the tokens can throw, so can the results.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func results<Tokens: AsyncSequence & Sendable>(
        of message: PushMessage, to tokens: Tokens, using name: String? = nil
    ) throws(PushError) -> StreamedPushResults<Tokens> where Tokens.Element == PushToken {
        StreamedPushResults(tokens: tokens, makeJob: try prepare(message, name))
    }

    /// Sends to many devices, and gives the results as they come.
    ///
    /// - Parameters:
    ///   - message: the message to send.
    ///   - tokens: whom to, any number; a lazy sequence (`.lazy.map`) is read only as fast as results are.
    ///   - name: the configuration; nil for the first.
    /// - Returns: the results, to be iterated once.
    /// - Throws: `PushError` (`messageInvalid`, `configurationUnknown`) before anything was sent.
    public func results<Tokens: Sequence>(
        of message: PushMessage, to tokens: Tokens, using name: String? = nil
    ) throws(PushError) -> PushResults<Tokens> where Tokens.Element == PushToken {
        PushResults(tokens: tokens, makeJob: try prepare(message, name))
    }

    /// Checks the message.
    ///
    /// - Returns: a function that makes its job, which the client retains until the job has ended.
    private func prepare(
        _ message: PushMessage, _ name: String?
    ) throws(PushError) -> @Sendable () -> PushJob {
        let name = name ?? defaultName
        guard let route = routes[name] else {
            let known = routes.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw PushError(
                .configurationUnknown, "no configuration is named \"\(name)\"; there is \(known)")
        }
        let content = try message.content(bundleID: route.bundleID)
        let identity = PushIdentity(source: "", identifier: message.identifier)
        return { [jobs, client] in
            jobs.add { number in
                PushJob(
                    number: number, content: content, identity: identity, route: route.index,
                    windowCount: Self.windowCount, client: client, jobs: jobs, instruments: route.instruments)
            }
        }
    }

    // MARK: The end

    /// Closes the connections in order: pushes in flight get a few seconds for their answers; waiting and later pushes
    /// end as not processed.
    public func close() async {
        await client.close()
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Returns when the client has been closed; closes it when the task is cancelled.
    ///
    /// It is the `run()` of ServiceLifecycle's `Service`: a graceful shutdown that cancels it lets pushes in flight
    /// have their answers.
    public func run() async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // The handler may have come first.
                    let isOver = state.isClosed || Task.isCancelled
                    if !isOver { state.waiting[number] = continuation }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
        await close()
    }
}
