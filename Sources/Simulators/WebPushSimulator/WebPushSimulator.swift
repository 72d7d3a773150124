import Crypto
import JSON
public import PushServiceSimulator

/// Servers that treat their clients as the push services of browsers do, on this machine.
///
/// Each origin listens on its own port, speaks HTTP/2 or HTTP/1.1 over TLS, and gives the answers of one service. It
/// makes subscriptions, keeps their private keys, and decrypts each push as the browser would. It is as strict as the
/// RFCs and the services' documents allow, so that a sender that passes here also passes there. All origins have one
/// certificate, which is made at start; a sender has to trust `trustAnchorPEM`.
public final class WebPushSimulator: Sendable {
    /// The certificate that senders have to trust, in PEM.
    public let trustAnchorPEM: String

    private let origins: [WebPushOrigin]
    private let script: ScriptBook<PushStep>

    private init(trustAnchorPEM: String, origins: [WebPushOrigin], script: ScriptBook<PushStep>) {
        self.trustAnchorPEM = trustAnchorPEM
        self.origins = origins
        self.script = script
    }

    /// Starts a simulator, which runs until `stop()`.
    ///
    /// - Parameter configuration: the simulator's properties.
    /// - Returns: the running simulator.
    /// - Throws: `SimulatorError` if a value is out of range, the record file cannot be written or an address cannot be
    ///   listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public static func start(_ configuration: WebPushSimulatorConfiguration) async throws -> WebPushSimulator {
        try configuration.validate()
        var serving = configuration.serving
        let names = Set(configuration.origins.map(\.hostName)).subtracting(["localhost"] + serving.hostNames)
        let identity = try serving.servingIdentity(naming: names.sorted())
        serving.identity = identity
        let script = ScriptBook(configuration.script.answers)
        let once = UsedOnce()
        let progress = SimulatorProgress()
        var origins: [WebPushOrigin] = []
        do {
            for origin in configuration.origins {
                serving.faults = try configuration.webPushFaults.faults(of: origin.name, origin.profile)
                let parts = OriginParts(origin, configuration, script: script, once: once)
                origins.append(try await WebPushOrigin.start(origin, parts, serving, progress: progress))
                // The file is emptied once.
                serving.appendsRecords = true
            }
        } catch {
            for origin in origins { try await origin.close() }
            for origin in origins { origin.join() }
            throw error
        }
        let simulator = WebPushSimulator(
            trustAnchorPEM: identity.certificateChainPEM, origins: origins, script: script)
        for origin in origins { origin.change(configuration.script.presence) }
        return simulator
    }

    // MARK: Origins and subscriptions

    /// The names of the origins, in the order of the configuration.
    public var originNames: [String] { origins.map(\.parts.name) }

    /// The address of an origin, for example `https://localhost:8443`, which is the claim `aud` of tokens for it.
    ///
    /// - Throws: `SimulatorError` (`configurationInvalid`) if there is no such origin.
    public func url(ofOrigin name: String) throws(SimulatorError) -> String { try origin(name).parts.url }

    /// A subscription of an origin.
    ///
    /// - Parameters:
    ///   - name: the name of the origin.
    ///   - index: the number of the subscription, from 0.
    /// - Returns: the subscription.
    /// - Throws: `SimulatorError` if there is no such origin or subscription.
    public func subscription(ofOrigin name: String, _ index: Int) throws(SimulatorError) -> SimulatedSubscription {
        let parts = try origin(name).parts
        guard (0..<parts.directory.count).contains(index) else {
            throw .configurationInvalid(
                "the origin \(name) has the subscriptions 0 to \(parts.directory.count - 1), and not \(index)")
        }
        return try parts.directory.subscription(index, origin: parts.url)
    }

    /// Subscriptions for a registry, dealt out to all origins in turn.
    ///
    /// - Parameters:
    ///   - count: how many, at most as many as there are.
    ///   - body: takes each of them.
    /// - Throws: `SimulatorError` if there are not so many; what `body` throws.
    public func forEachSubscription(_ count: Int, _ body: (SimulatedSubscription) throws -> Void) throws {
        for number in 0..<max(0, count) {
            let origin = origins[number % origins.count]
            try body(try subscription(ofOrigin: origin.parts.name, number / origins.count))
        }
    }

    private func origin(_ name: String) throws(SimulatorError) -> WebPushOrigin {
        guard let origin = origins.first(where: { $0.parts.name == name }) else {
            throw .configurationInvalid(
                "there is no origin \"\(name)\"; there are \(originNames.joined(separator: ", "))")
        }
        return origin
    }

    // MARK: Changes

    /// Adds faults while it runs.
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if a fault names an origin that there is not.
    public func add(_ faults: WebPushFaults) throws(SimulatorError) {
        try faults.requireOrigins(originNames)
        for origin in origins {
            origin.loops.faults.add(try faults.faults(of: origin.parts.name, origin.parts.profile))
        }
    }

    /// Removes the faults; their effects on existing connections stay.
    public func removeFaults() { for origin in origins { origin.loops.faults.removeAll() } }

    /// Puts a whole script in the place of the present one; which browsers are online changes only as it says.
    public func replaceScript(by script: SubscriptionScript) {
        self.script.replace(by: script.answers)
        for origin in origins { origin.change(script.presence) }
    }

    /// Changes what becomes of the subscriptions that a script names; all begin with their first steps again.
    ///
    /// Messages that wait for a browser that is online now are delivered at once.
    public func change(by script: SubscriptionScript) {
        if !script.answers.isEmpty { self.script.change(by: script.answers) }
        for origin in origins { origin.change(script.presence) }
    }

    /// Forgets which key each subscription was made with, unless the configuration says it.
    public func forgetKeys() { for origin in origins { origin.parts.bindings.forget() } }

    // MARK: Numbers

    /// The numbers of all origins so far, and of each.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> WebPushSummary {
        var total = WebPushSummary()
        for origin in origins {
            let summary = try await origin.summary()
            total.add(summary)
            total.origins[origin.parts.name] = summary
        }
        return total
    }

    /// Returns the records of messages, oldest first, as many as `recordsInMemoryMaximum` allows each loop of each
    /// origin.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [RecordedWebPush] {
        var records: [RecordedWebPush] = []
        for origin in origins {
            records += try await origin.loops.recorded()
        }
        // The sort is stable, so that records of one loop keep their order.
        return records.sorted { $0.timeMilliseconds < $1.timeMilliseconds }
    }

    /// Waits until as many pushes have been answered since the start; answers of faults do not count.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: after how long the wait is a failure; only there to end a hang.
    /// - Throws: `SimulatorError` with the code `deadlinePassed`.
    public func waitForAnswers(_ count: Int, deadlineSeconds: Int = 300) async throws {
        try await origins[0].loops.waitForAnswers(count, deadlineSeconds: deadlineSeconds)
    }

    /// Closes all connections, writes the last records and ends the threads.
    ///
    /// - Returns: the final numbers.
    @discardableResult
    public func stop() async throws -> WebPushSummary {
        for origin in origins { try await origin.close() }
        let summary = try await summary()
        for origin in origins { origin.join() }
        return summary
    }
}

extension WebPushSimulator: ControlledSimulator {
    /// Adds the fault that a line describes, changes what becomes of the subscriptions that it names, or forgets which
    /// keys they were made with (`{"forget_keys":true}`).
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if it is none of these.
    public func execute(_ line: [UInt8]) throws(SimulatorError) {
        let object = try? JSONObject.line(line)
        if object?["forget_keys"]?.bool == true { return forgetKeys() }
        if object?["fault"] == nil, object?["answer"] != nil || object?["online"] != nil {
            return change(by: try SubscriptionScript(parsing: line))
        }
        try add(try WebPushFaults(parsing: line))
    }
}

/// The counts of one origin, or of all origins of a simulator.
public typealias WebPushSummary = ServiceSummary<WebPushCounts>

/// The counts that only Web Push has.
public struct WebPushCounts: FurtherCounts {
    /// Messages that reached their browsers, at once or after they had waited.
    public var delivered = 0
    /// Delivered messages that reach their browsers later, because FCM passes on only so many with a topic.
    public var delayed = 0
    /// Messages that wait for their browsers now.
    public var waiting = 0
    /// Messages that gave their places to one with the same topic.
    public var replaced = 0
    /// Messages whose time passed while they waited.
    public var expired = 0
    /// Messages whose browsers were offline, and that had no time to wait.
    public var dropped = 0
    /// Accepted messages that no browser could decrypt.
    public var unreadable = 0
    /// Messages with a salt or a sender's key that had been used before.
    public var reusedKeys = 0
    /// Distinct VAPID tokens with a good signature.
    public var vapidTokens = 0
    /// Pushes to a subscription sooner than the last `retry-after` of it said.
    public var earlyAfterRetryAfter = 0
    /// Requests to the place that redirects lead to.
    public var trapVisits = 0
    /// The counts of each origin by its name; empty in those of an origin.
    public var origins: [String: WebPushSummary] = [:]

    /// Begins without any answer.
    public init() {}

    /// Adds what another loop or origin saw.
    public mutating func add(_ other: WebPushCounts) {
        let counts: [WritableKeyPath<WebPushCounts, Int>] = [
            \.delivered, \.delayed, \.waiting, \.replaced, \.expired, \.dropped, \.unreadable, \.reusedKeys,
            \.vapidTokens, \.earlyAfterRetryAfter, \.trapVisits,
        ]
        for count in counts { self[keyPath: count] += other[keyPath: count] }
    }

    /// The numbers as one line of JSON.
    public static func json(of summary: WebPushSummary) -> String {
        let (further, serving) = (summary.further, summary.serving)
        let origins = further.origins.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }
        return """
            {"answered":\(summary.answered),"accepted":\(summary.accepted),"duplicates":\(summary.duplicates),\
            "distinct_messages":\(summary.distinctMessages),"delivered":\(further.delivered),\
            "delayed":\(further.delayed),"waiting":\(further.waiting),"replaced":\(further.replaced),\
            "expired":\(further.expired),"dropped":\(further.dropped),"unreadable":\(further.unreadable),\
            "reused_keys":\(further.reusedKeys),"vapid_tokens":\(further.vapidTokens),\
            "early_after_retry_after":\(further.earlyAfterRetryAfter),"trap_visits":\(further.trapVisits),\
            "faults":\(summary.faults),"records_lost":\(summary.recordsLost),\
            "distinct_messages_complete":\(summary.isMessageCountComplete),\
            "silent":\(serving.silent),"lost_answers":\(serving.lostAnswers),"abandoned":\(serving.abandoned),\
            "connections":\(serving.connections),"connections_refused":\(serving.connectionsRefused),\
            "connections_failed":\(serving.connectionsFailed),"protocol_violations":\(serving.protocolViolations),\
            "concurrent_streams_maximum":\(serving.concurrentStreamsMaximum),"answers":\(summary.answersJSON)\
            \(origins.isEmpty ? "" : ",\"origins\":{\(origins.joined(separator: ","))}")}
            """
    }
}
