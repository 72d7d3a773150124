import AMQP

/// Which broker answered, and what is to be known of its version.
///
/// All of it is read in RabbitMQ's release notes and sources; Apus is tested with `testedVersions`.
public struct BrokerIdentity: Hashable, Sendable {
    /// The versions that the tests run with.
    public static let testedVersions = "3.10.8"
    /// What `testedVersions` says, as a limit.
    private static let newestTested = AMQPServer.Version(3, 10, 8)
    /// The newest version whose sources were read.
    private static let newestRead = AMQPServer.Version(4, 4, 0)

    private let server: AMQPServer

    init(_ server: AMQPServer) { self.server = server }

    /// The product and its version, with unprintable characters replaced.
    public var description: String {
        let text = server.product.isEmpty ? "a broker that does not say what it is" : server.product
        return "\(text) \(server.versionText)".map { $0.isASCII && !$0.isNewline && $0 >= " " ? String($0) : "?" }
            .joined()
    }

    /// What of this version concerns Apus, a sentence each; none for one that is tested.
    public var notes: [String] {
        guard server.isRabbitMQ else {
            return ["it is not RabbitMQ: quorum queues, delivery limits and safe dead-lettering may be missing"]
        }
        guard let version = server.version else { return ["its version cannot be read, so nothing is known of it"] }
        return Self.known.filter { $0.versions.contains(version) }.map(\.note) + Self.age(version)
    }

    /// Whether a passive declare asks for the permission `configure`, as no other version does.
    var asksToConfigureForLooking: Bool {
        guard server.isRabbitMQ, let version = server.version else { return false }
        return [AMQPServer.Version(4, 2, 6), AMQPServer.Version(4, 3, 0)].contains(version)
    }

    private static func age(_ version: AMQPServer.Version) -> [String] {
        if version > newestRead {
            return ["it is newer than all that was read of RabbitMQ; Apus is tested with 3.10.8"]
        }
        guard version > newestTested else { return [] }
        return ["Apus is tested with \(testedVersions), and supports this version by reading its sources"]
    }

    private static func range(
        _ from: (Int, Int, Int), before end: (Int, Int, Int)
    ) -> Range<AMQPServer.Version> {
        AMQPServer.Version(from.0, from.1, from.2)..<AMQPServer.Version(end.0, end.1, end.2)
    }

    private static let known: [(versions: Range<AMQPServer.Version>, note: String)] = [
        (
            range((0, 0, 0), before: (3, 10, 0)),
            "it is too old: quorum queues have no time to live before 3.10, so retries do not work"
        ),
        (
            range((3, 10, 0), before: (3, 12, 5)),
            "a channel may refuse everything for a queue whose leader died (mended in 3.12.5); workers open another"
        ),
        (
            range((4, 2, 0), before: (4, 2, 7)),
            "retries may stand still in a cluster (mended in 4.2.7): watch for overdue messages in retry queues"
        ),
        (
            range((4, 3, 0), before: (4, 3, 3)),
            "retries may stand still in a cluster (mended in 4.3.3): watch for overdue messages in retry queues"
        ),
        (
            range((4, 2, 6), before: (4, 2, 7)),
            "it asks for the permission configure to look whether a queue is there; update to 4.2.7"
        ),
        (
            range((4, 3, 0), before: (4, 3, 1)),
            "it asks for the permission configure to look whether a queue is there; update to 4.3.1"
        ),
        (
            range((4, 0, 0), before: (1_000, 0, 0)),
            "messages above 16 MiB are refused (max_message_size), also copies of what an older version took"
        ),
        (
            range((4, 0, 0), before: (1_000, 0, 0)),
            "the AMQP property priority puts an event before others; copies of Apus bear none"
        ),
        (
            range((4, 3, 0), before: (1_000, 0, 0)),
            "consumer_timeout ends a consumer and gives what it holds to others; a worker consumes anew then"
        ),
    ]
}
