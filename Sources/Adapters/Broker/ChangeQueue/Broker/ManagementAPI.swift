import AMQP
import Essentials
import EventLoop
import HTTPClient
import JSON

/// RabbitMQ's management API, which shows the policies in force; AMQP does not.
struct ManagementAPI: Sendable {
    private static let queueBytesMaximum = 4 * 1_024 * 1_024

    /// The time to repeat the question about queues whose policies RabbitMQ does not show yet.
    ///
    /// It gathers that every five seconds, and of a new queue tells it after at most ten.
    private static let patience = Duration.seconds(30)

    /// The API's answer about a queue.
    private enum Finding: Sendable {
        case missing
        case unsaid
        case policy(EffectivePolicy)
    }

    private let url: String
    private let virtualHost: String
    private let client: HTTPClient

    /// Prepares to ask; nil if the configuration does not say where the API is.
    ///
    /// - Parameter configuration: the broker's address, and the user unless the API's URL names one.
    init?(_ configuration: BrokerConfiguration) {
        guard !configuration.managementURL.isEmpty, let endpoint = configuration.endpoints.first else { return nil }
        url = String(configuration.managementURL.reversed().drop { $0 == "/" }.reversed())
        virtualHost = endpoint.virtualHost
        var client = HTTPClient()
        client.user = endpoint.user
        client.password = endpoint.password
        client.caFile = configuration.caFile
        client.bytesMaximum = Self.queueBytesMaximum
        self.client = client
    }

    /// The policies of several queues; waits for the answers, off the caller's thread.
    ///
    /// - Parameter queues: their names.
    /// - Returns: the policy in force for each existing queue, by its name.
    /// - Throws: `ChangeQueueError`: `unavailable`, `refused`.
    func effectivePolicies(of queues: [String]) async throws(ChangeQueueError) -> [String: EffectivePolicy] {
        try await withLoop { loop in
            var policies: [String: EffectivePolicy] = [:]
            var open = queues
            let deadline = ContinuousClock.now + Self.patience
            while true {
                let asked = open
                let answers = try await loop.run { try asked.map { try (queue: $0, finding: effectivePolicy(of: $0)) } }
                open = []
                for (queue, finding) in answers {
                    switch finding {
                    case .policy(let policy): policies[queue] = policy
                    case .missing: break
                    case .unsaid: open.append(queue)
                    }
                }
                guard let first = open.first else { return policies }
                guard ContinuousClock.now < deadline else {
                    throw ChangeQueueError(
                        .unavailable,
                        "the management API does not say yet what policies do to \(first), because it has no "
                            + "statistics of it; ask again, and see to it that RabbitMQ gathers them "
                            + "(management.disable_stats)")
                }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The most queues that are asked for at once; RabbitMQ allows 500.
    private static let pageSize = 500

    /// The names of the queues of the virtual host that begin with a text; waits for the answer.
    ///
    /// - Parameter prefix: the text.
    /// - Returns: their names, at most 500.
    /// - Throws: `ChangeQueueError`: `unavailable`, `refused`.
    func queueNames(beginningWith prefix: String) async throws(ChangeQueueError) -> [String] {
        let path =
            "/api/queues/\(PercentEncoding.encode(virtualHost))?columns=name&page=1&page_size=\(Self.pageSize)&name="
            + PercentEncoding.encode(prefix)
        return try await withLoop { loop in
            try await loop.run {
                let items = try get(path)?["items"]?.array.map(Array.init) ?? []
                // The API looks for the text anywhere in the name.
                return items.compactMap { $0["name"]?.string }.filter { $0.hasPrefix(prefix) }
            }
        }
    }

    /// The statistics of several queues; waits for the answers, off the caller's thread.
    ///
    /// - Parameter queues: their names.
    /// - Returns: the statistics by name, without queues of which the API knows nothing.
    /// - Throws: `ChangeQueueError`: `unavailable`, `refused`.
    func statistics(of queues: [String]) async throws(ChangeQueueError) -> [String: QueueStatistics] {
        try await withLoop { loop in
            try await loop.run {
                try queues.reduce(into: [:]) { statistics, queue in
                    statistics[queue] = try get(path(of: queue)).flatMap { QueueStatistics($0) }
                }
            }
        }
    }

    /// Does something with a loop of its own, off the caller's thread.
    private func withLoop<Value: Sendable>(
        _ work: (EventLoop) async throws -> Value
    ) async throws(ChangeQueueError) -> Value {
        do {
            let loop = try EventLoop(name: "management")
            defer { loop.stopAndJoin() }
            return try await work(loop)
        } catch let error as ChangeQueueError { throw error } catch {
            throw ChangeQueueError(.unavailable, "\(error)")
        }
    }

    private func path(of queue: String) -> String {
        "/api/queues/\(PercentEncoding.encode(virtualHost))/\(PercentEncoding.encode(queue))"
    }

    private func effectivePolicy(of queue: String) throws(ChangeQueueError) -> Finding {
        guard let parsed = try get(path(of: queue)) else { return .missing }
        return EffectivePolicy(queue: parsed).map(Finding.policy) ?? .unsaid
    }

    /// Gets a document of the API; nil if there is none.
    private func get(_ path: String) throws(ChangeQueueError) -> JSONValue? {
        let answer: HTTPClient.Answer
        do throws(HTTPClient.Failure) { answer = try client.get(url + path) } catch {
            throw ChangeQueueError(.unavailable, "RabbitMQ's management API does not answer: \(error)")
        }
        switch answer.status {
        case 200: break
        case 404: return nil
        case 401, 403:
            throw ChangeQueueError(
                .refused,
                "RabbitMQ's management API refuses the user (\(answer.status)); it needs the tag `management`, and "
                    + "permissions on the virtual host")
        default:
            throw ChangeQueueError(
                .unavailable, "rabbitmq.management_url answers \(answer.status) to \(path); is it RabbitMQ's API?")
        }
        do throws(JSONError) {
            return try JSONParser(bytesMaximum: Self.queueBytesMaximum).parse(answer.body, refusingRepeatedKeys: false)
        } catch {
            throw ChangeQueueError(.unavailable, "the management API's answer cannot be read: \(error)")
        }
    }
}

extension QueueStatistics {
    /// Reads what the API says of a queue; nil if it has no statistics of it.
    fileprivate init?(_ queue: JSONValue) {
        guard let count = queue["messages_unacknowledged"]?.int64 else { return nil }
        self.init(
            unacknowledgedCount: Int(clamping: count), oldestTimestampSeconds: queue["head_message_timestamp"]?.int64)
    }
}
