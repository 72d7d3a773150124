import AMQP

/// The broker's product and version, with notes about that version.
///
/// Apus is tested with `testedVersions`. Notes about other versions follow RabbitMQ's release notes and sources.
public struct BrokerIdentity: Hashable, Sendable {
    /// The versions that the tests run with.
    public static let testedVersions = "\(tested.dropLast().joined(separator: ", ")) and \(tested.last ?? "")"
    private static let tested = ["3.10.8", "4.0.5", "4.3.6"]
    /// The newest version whose sources were read.
    private static let newestRead = AMQPServer.Version(4, 4, 0)

    private let server: AMQPServer

    init(_ server: AMQPServer) { self.server = server }

    /// The product and its version, with unprintable characters replaced.
    public var description: String {
        let text = server.product.isEmpty ? "an unnamed broker" : server.product
        return "\(text) \(server.versionText)".map { $0.isASCII && !$0.isNewline && $0 >= " " ? String($0) : "?" }
            .joined()
    }

    /// The version, as far as it can be read.
    var version: AMQPServer.Version? { server.version }

    /// The notes on this version that concern Apus, a sentence each.
    public var notes: [String] {
        guard server.isRabbitMQ else {
            return ["it is not RabbitMQ: quorum queues, delivery limits and safe dead-lettering may be missing"]
        }
        guard let version = server.version else { return ["its version cannot be read, so its faults are unknown"] }
        return Self.known.filter { $0.versions.contains(version) }.map(\.note) + Self.age(version)
    }

    /// Whether a passive declare asks for the permission `configure`, as no other version does.
    var asksToConfigureForLooking: Bool {
        guard server.isRabbitMQ, let version = server.version else { return false }
        return [AMQPServer.Version(4, 2, 6), AMQPServer.Version(4, 3, 0)].contains(version)
    }

    private static func age(_ version: AMQPServer.Version) -> [String] {
        if version > newestRead {
            return ["it is newer than the versions that Apus supports; Apus is tested with \(testedVersions)"]
        }
        let tested = tested.compactMap { AMQPServer.Version($0) }
        guard let oldest = tested.first, version > oldest, !tested.contains(version) else { return [] }
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
            "a channel may refuse everything for a queue whose leader died (fixed in 3.12.5); workers open another one"
        ),
        (
            range((4, 2, 0), before: (4, 2, 7)),
            "retries may stand still in a cluster (fixed in 4.2.7): watch for overdue messages in retry queues"
        ),
        (
            range((4, 3, 0), before: (4, 3, 3)),
            "retries may stand still in a cluster (fixed in 4.3.3): watch for overdue messages in retry queues"
        ),
        (
            range((4, 2, 6), before: (4, 2, 7)),
            "it demands the permission configure for a passive declare of a queue; update to 4.2.7"
        ),
        (
            range((4, 3, 0), before: (4, 3, 1)),
            "it demands the permission configure for a passive declare of a queue; update to 4.3.1"
        ),
        (
            range((4, 0, 0), before: (1_000, 0, 0)),
            "messages above 16 MiB are refused (max_message_size), also copies of messages that an older version took"
        ),
        (
            range((4, 0, 0), before: (1_000, 0, 0)),
            "the AMQP property priority puts an event before others; the copies that Apus publishes do not bear it"
        ),
        (
            range((4, 3, 0), before: (1_000, 0, 0)),
            "consumer_timeout cancels a consumer and requeues its messages; a worker then consumes again"
        ),
    ]
}
