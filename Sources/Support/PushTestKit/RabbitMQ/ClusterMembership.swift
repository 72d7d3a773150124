/// What the nodes of one private cluster have in common.
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
