/// Three RabbitMQ nodes of our own that make a cluster, so that each quorum queue has three replicas.
///
/// Every node has its name, data and ports; they share a secret and a port mapper, which are also of their own. The
/// metadata of the cluster is Mnesia's, with `pause_minority`; a node that is silent for eight seconds is taken for
/// gone.
public final class PrivateRabbitMQCluster: Sendable {
    /// The nodes; the others joined the first.
    public let nodes: [PrivateRabbitMQ]

    private init(nodes: [PrivateRabbitMQ]) { self.nodes = nodes }

    /// Starts three nodes and waits until they are one cluster.
    ///
    /// - Parameter configuration: more lines of each node's `rabbitmq.conf`.
    /// - Returns: the running cluster.
    /// - Throws: `PrivateServerFailure` if RabbitMQ is not installed or a node does not start or join.
    public static func start(configuration: String = "") async throws -> PrivateRabbitMQCluster {
        let membership = ClusterMembership(
            cookie: "\(UInt64.random(in: 0 ... .max))", mapperPort: try FreePorts.find(1)[0])
        func node(joining name: String?) throws -> PrivateRabbitMQ {
            try PrivateRabbitMQ(
                certificate: nil, more: ClusterMembership.configuration(joining: name) + configuration,
                membership: membership)
        }
        let first = try node(joining: nil)
        try await first.startAgain()
        let others = [try node(joining: first.nodeName), try node(joining: first.nodeName)]
        // One after the other: nodes that join together wait for each other for random times.
        for other in others { try await other.startAgain() }
        let cluster = PrivateRabbitMQCluster(nodes: [first] + others)
        for node in cluster.nodes { try await node.control("await_online_nodes", "3") }
        return cluster
    }

    /// The addresses of all nodes.
    public var urls: [String] { nodes.map(\.url) }

    /// The node on which the leader of a quorum queue is.
    ///
    /// - Parameters:
    ///   - queue: the name, in the virtual host `/`.
    ///   - witness: the node that is asked.
    /// - Returns: the node.
    /// - Throws: `PrivateServerFailure` if there is no such queue or it has no leader.
    public func leader(of queue: String, witness: PrivateRabbitMQ) async throws -> PrivateRabbitMQ {
        let text = try await witness.evaluate(
            """
            {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"\(queue)">>)),
            {ok, _, {_, Node}} = ra:members(amqqueue:get_pid(Q)), Node.
            """)
        guard let node = nodes.first(where: { text.contains($0.nodeName) }) else {
            throw PrivateServerFailure("no leader of \(queue) in: \(text)")
        }
        return node
    }

    /// Cuts a node off from the others: neither side can reach the other until `heal`.
    ///
    /// The nodes get different secrets, and are then disconnected, so that Erlang's own distribution refuses to connect
    /// again: to RabbitMQ this is a network partition.
    public func cutOff(_ node: PrivateRabbitMQ) async throws {
        let others = nodes.filter { $0 !== node }
        let names = others.map { "'\($0.nodeName)'" }.joined(separator: ", ")
        for other in others {
            try await other.evaluate("erlang:set_cookie('\(node.nodeName)', cut_off), ok.")
        }
        try await node.evaluate(
            "[begin erlang:set_cookie(N, cut_off), erlang:disconnect_node(N) end || N <- [\(names)]], ok.")
    }

    /// Ends a cut.
    public func heal(_ node: PrivateRabbitMQ) async throws {
        for member in nodes {
            let names = (member === node ? nodes : [node]).filter { $0 !== member }
            let list = names.map { "'\($0.nodeName)'" }.joined(separator: ", ")
            try await member.evaluate("[erlang:set_cookie(N, erlang:get_cookie()) || N <- [\(list)]], ok.")
        }
    }

    /// Ends all nodes and everything that they left.
    public func stop() {
        // The first one's supervisor runs the port mapper.
        for node in nodes.reversed() { node.stop() }
    }
}

/// The common part of the nodes of one private cluster.
struct ClusterMembership: Sendable {
    /// How long a node may be silent before the others take it for gone, in seconds.
    ///
    /// A minute by default, which would be most of a test.
    static let silenceSeconds = 8

    /// The secret by which nodes know each other.
    let cookie: String
    /// The port of the port mapper that all of them ask; the first node's supervisor runs it.
    let mapperPort: UInt16

    /// Erlang's own settings.
    var advancedConfiguration: String { "[{kernel, [{net_ticktime, \(Self.silenceSeconds)}]}].\n" }

    /// Lines of `rabbitmq.conf` by which a node joins another when it starts for the first time.
    ///
    /// - Parameter nodeName: a node that runs; nil for the first.
    /// - Returns: the lines.
    static func configuration(joining nodeName: String?) -> String {
        // The smaller half of a cluster that falls apart stops by itself, and comes back when the halves meet again.
        let handling = "cluster_partition_handling = pause_minority\n"
        guard let nodeName else { return handling }
        return handling + """
            cluster_formation.peer_discovery_backend = classic_config
            cluster_formation.classic_config.nodes.1 = \(nodeName)

            """
    }
}
