package import Notifications
internal import Synchronization

/// The common part of the clients of all libraries: it owns the transport, and hands its results to the calls.
package final class PushSender: Sendable {
    private struct State {
        var isClosed = false
        /// The tasks that wait for the end, by a number each.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
    }

    /// The calls that have not ended.
    package let jobs = PushJobs()
    private let transport: any PushTransport
    private let names: [String]
    private let instruments: [PushInstruments]?
    private let stopCredentials: @Sendable () -> Void
    private let state = Mutex(State())

    /// Starts a transport.
    ///
    /// - Parameters:
    ///   - transport: a transport that was not started; its routes are those of the configurations.
    ///   - names: the names of the configurations, in the order of the routes; not empty, and all different.
    ///   - label: the beginning of the labels of instruments, for example `apns`.
    ///   - metricsFactory: makes the instruments of each configuration; nil measures nothing.
    ///   - stopCredentials: ends what authenticates requests, after the transport has ended.
    package init(
        _ transport: any PushTransport, names: [String], label: String,
        metricsFactory: (any PushMetricsFactory)?, stopCredentials: @escaping @Sendable () -> Void = {}
    ) {
        self.transport = transport
        self.names = names
        self.stopCredentials = stopCredentials
        instruments = metricsFactory.map { factory in
            names.map { PushInstruments(label: label, app: $0, factory: factory) }
        }
        transport.start(handler: jobs)
    }

    deinit {
        // Its thread and connections end even if `close` was never called.
        let (transport, stopCredentials) = (transport, stopCredentials)
        Task {
            await transport.close()
            stopCredentials()
        }
    }

    /// Refuses configurations among which a call could not choose.
    ///
    /// - Throws: `PushError` (`configurationInvalid`) if there are none, or two have the same name.
    package static func requireDistinct(_ names: [String]) throws(PushError) {
        guard !names.isEmpty else {
            throw PushError(.configurationInvalid, "a client needs at least one configuration")
        }
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw PushError(.configurationInvalid, "two configurations are named \"\(name)\"")
        }
    }

    /// The route of a configuration.
    ///
    /// - Parameter name: its name; nil for the first.
    /// - Returns: its number.
    /// - Throws: `PushError` (`configurationUnknown`) that lists the names.
    package func route(_ name: String?) throws(PushError) -> Int {
        guard let name else { return 0 }
        guard let index = names.firstIndex(of: name) else {
            let known = names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw PushError(.configurationUnknown, "no configuration is named \"\(name)\"; there is \(known)")
        }
        return index
    }

    /// A function that makes a job; it does not keep the client open.
    func jobMaker(_ order: PushOrder) -> @Sendable () -> PushJob {
        { [jobs, transport, instruments = instruments?[order.route]] in
            jobs.add { number in
                PushJob(number: number, order: order, transport: transport, jobs: jobs, instruments: instruments)
            }
        }
    }

    // MARK: The end

    /// Closes the connections in order: pushes in flight get a few seconds for their answers; waiting and later pushes
    /// end as not processed.
    package func close() async {
        await transport.close()
        stopCredentials()
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Returns when the client has been closed; closes it when the task is cancelled.
    package func run() async {
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
