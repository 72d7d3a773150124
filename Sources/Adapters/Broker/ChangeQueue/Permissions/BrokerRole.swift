/// The purpose of a RabbitMQ user, and the least permissions that it needs in one namespace.
///
/// A permission is a regular expression over the names of queues and exchanges; RabbitMQ has three for a user and a
/// virtual host. `amq.default` stands for the default exchange, which leads to a queue by its name.
///
/// From RabbitMQ 4.2.7 and 4.3.1 a look at a queue, which is a passive declare, asks for any right on its name. A user
/// that looks at queues therefore has the right to write to their names. That permits nothing else by itself: messages
/// are written to exchanges, which have other names, and a binding also needs the right to read its exchange. A user
/// with the role outcomes as well has that right on the exchange of outcomes, and could bind the other queues to it.
public struct BrokerRole: Hashable, Sendable {
    /// The roles.
    public enum Name: String, CaseIterable, Sendable {
        /// `apus relay`, or a backend that publishes events.
        case publisher
        /// `apus topology apply`, and a worker with `worker.declare_topology`.
        case topology
        /// `apus run`.
        case worker
        /// A backend that receives outcomes, `apus outcomes` and `apus analytics`.
        case outcomes
        /// `apus webhooks`.
        case webhooks
        /// `apus dead-letters`.
        case deadLetters = "dead-letters"
        /// `apus check --connect` and `apus topology check`, which then do not compare the arguments of queues.
        case check
    }

    /// Its name.
    public let name: Name
    /// The user's purpose, for people.
    public let purpose: String
    /// Which queues and exchanges the user may declare and delete.
    public let configure: String
    /// Which exchanges the user may publish to, and which queues and exchanges it may bind to others.
    public let write: String
    /// Which queues the user may consume, and which exchanges it may bind others to.
    public let read: String
    /// The rights that show whether a user may take this role, most telling first.
    let needs: [BrokerRight]

    private static let none = "^$"
    private static let defaultExchange = "^amq\\.default$"

    /// The roles of a topology, in the order of `Name`.
    static func all(of topology: Topology) -> [BrokerRole] {
        let names = topology.names
        let prefix = "^" + escaped(names.namespace) + "\\."
        let queues = topology.objects.filter { $0.kind == .quorumQueue }.map(\.name)
        let workQueues = (1...topology.workQueueCount).map { names.work($0) }
        return [
            BrokerRole(
                name: .publisher, purpose: "apus relay, or a backend that publishes events", configure: none,
                write: prefix + "changes$", read: none, needs: [.write(exchange: names.changes)]),
            BrokerRole(
                name: .topology, purpose: "apus topology apply", configure: prefix,
                write: "^(" + escaped(names.namespace) + "\\..*|amq\\.default)$", read: prefix,
                needs: [.configureExchange(names.changes)] + queues.map { .configureQueue($0) } + [
                    .bind(queue: names.work, to: names.changes), .write(exchange: ""),
                ]),
            BrokerRole(
                name: .worker, purpose: "apus run", configure: none,
                write: "^(" + escaped(names.namespace) + "\\.(outcomes|retry\\..+|dead-letter)|amq\\.default)$",
                read: prefix + "(work(\\.[0-9]+)?|fanout)$",
                needs: workQueues.map { .read(queue: $0) } + [.read(queue: names.fanout), .write(exchange: "")]
                    + (topology.publishesOutcomes ? [.write(exchange: names.outcomes)] : [])),
            BrokerRole(
                name: .outcomes, purpose: "receives outcomes: apus outcomes, apus analytics, a backend",
                configure: prefix + "outcomes\\..+$", write: prefix + "outcomes\\..+$",
                read: prefix + "outcomes(\\..+)?$",
                needs: [.configureQueue("\(names.outcomes).tail-check")]),
            BrokerRole(
                name: .webhooks, purpose: "apus webhooks", configure: none, write: defaultExchange,
                read: prefix + "outcomes\\.webhook\\..+$",
                needs: topology.webhooks.isEmpty
                    ? [] : topology.webhooks.map { .read(queue: names.webhook(app: $0.app)) } + [.write(exchange: "")]),
            BrokerRole(
                name: .deadLetters, purpose: "apus dead-letters", configure: prefix + "dead-letter\\.lock$",
                write: defaultExchange, read: prefix + "dead-letter$",
                needs: [
                    .read(queue: names.deadLetter), .configureQueue(names.deadLetterLock), .write(exchange: ""),
                ]),
            BrokerRole(
                name: .check, purpose: "looks at queues: KEDA, apus load, apus top", configure: none,
                write: prefix + "(work(\\.[0-9]+)?|fanout|retry\\..+|dead-letter|outcomes\\..+)$", read: none,
                needs: []),
        ]
    }

    /// A text as a regular expression that matches nothing else.
    private static func escaped(_ text: String) -> String {
        text.map { ".+*?^$()[]{}|\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}

/// One right of a user, which can be asked for without an effect.
enum BrokerRight: Hashable, Sendable, CustomStringConvertible {
    case configureQueue(String)
    case configureExchange(String)
    case read(queue: String)
    case write(exchange: String)
    case bind(queue: String, to: String)

    /// The permission and the object, as RabbitMQ names them.
    var description: String {
        switch self {
        case .configureQueue(let name), .configureExchange(let name): "configure \(name)"
        case .read(let queue): "read \(queue)"
        case .write(let exchange): "write \(exchange.isEmpty ? "amq.default" : exchange)"
        case .bind(let queue, let exchange): "write \(queue) and read \(exchange)"
        }
    }
}

extension Topology {
    /// The users that RabbitMQ should have for this topology, with the least permissions of each.
    public var roles: [BrokerRole] { BrokerRole.all(of: self) }
}
