import PushTestKit

extension Scenario {
    /// How long everything may take to settle.
    ///
    /// A retry queue whose hand-over to the work queue was cut short by the death of a leader tries again after three
    /// minutes (`dead_letter_worker_publisher_confirm_timeout`), and may have to try twice.
    private static let handOverSeconds = 480.0

    /// The node with the leader of the work queue.
    private static func workQueueLeader(of environment: Environment) async throws -> PrivateRabbitMQ {
        try await environment.cluster.leader(of: "\(environment.namespace).work", witness: environment.broker)
    }

    /// Waits until a node is one of three again.
    ///
    /// RabbitMQ 3.10 does not always find together again by itself; then its operator restarts the node.
    private static func letRejoin(_ node: PrivateRabbitMQ, _ environment: Environment) async throws {
        do {
            let witness = try environment.cluster.nodes.first { $0 !== node }
            try await witness?.control("await_online_nodes", "3", "--timeout", "30")
        } catch {
            environment.say("the node does not come back by itself; it is restarted")
            try node.kill()
            try await node.startAgain()
        }
    }

    /// The node with the leader of the work queue dies; another takes over, and the dead one comes back.
    static let clusterLeaderKill = Scenario(
        name: "cluster-leader-kill", domain: .broker,
        sentence: "SIGKILL to the node with the work queue's leader, one of three; it is started again later",
        setting: Setting(brokerNodes: 3, loadSeconds: 12, settleSeconds: handOverSeconds), redeliveries: 4
    ) { environment in
        let cluster = try environment.cluster
        let leader = try await workQueueLeader(of: environment)
        environment.say("the leader is \(leader.nodeName)")
        for node in cluster.nodes { try await node.writeOutMetadata() }
        try leader.kill()
        // The others go on without it.
        try await environment.waitForConfirms(500)
        try await leader.startAgain()
        try await environment.waitUntilReady()
    }

    /// One node of three, that of the leader, can no longer reach the others, nor they it.
    static let clusterMinorityCutOff = Scenario(
        name: "cluster-minority-cut-off", domain: .broker,
        sentence: "the node with the work queue's leader is cut off from the other two for some seconds; if it does "
            + "not join them again it is restarted",
        setting: Setting(brokerNodes: 3, loadSeconds: 12, settleSeconds: handOverSeconds), redeliveries: 6
    ) { environment in
        let cluster = try environment.cluster
        let leader = try await workQueueLeader(of: environment)
        environment.say("cutting off \(leader.nodeName)")
        try await cluster.cutOff(leader)
        try await environment.waitForConfirms(500)
        try await Pause.seconds(environment.draw(2...5))
        try await cluster.heal(leader)
        try await letRejoin(leader, environment)
        try await environment.waitUntilReady()
    }

    /// One node of three stands still, and comes back with an idea of the world that is out of date.
    static let clusterNodeStop = Scenario(
        name: "cluster-node-stop", domain: .broker,
        sentence: "SIGSTOP to the node with the work queue's leader, one of three, until the others give it up; if it "
            + "does not join them again it is restarted",
        setting: Setting(
            brokerNodes: 3, brokerConfiguration: "heartbeat = 4", loadSeconds: 12, settleSeconds: handOverSeconds),
        redeliveries: 6
    ) { environment in
        let cluster = try environment.cluster
        let leader = try await workQueueLeader(of: environment)
        leader.pause()
        try await Pause.seconds(environment.draw(20...25))
        leader.resume()
        try await letRejoin(leader, environment)
        try await environment.waitUntilReady()
    }

    /// Every node stops in order and comes back, one after the other, as when an operator restarts a cluster.
    static let clusterRollingRestart = Scenario(
        name: "cluster-rolling-restart", domain: .broker,
        sentence: "each of three nodes stops in order and starts again, one after the other",
        setting: Setting(brokerNodes: 3, loadSeconds: 40, settleSeconds: handOverSeconds), redeliveries: 12
    ) { environment in
        for node in try environment.cluster.nodes {
            // The question of `rabbitmq-upgrade await_online_quorum_plus_one`: no queue loses its quorum with this
            // node.
            try await node.evaluate("true = rabbit_upgrade_preparation:await_online_quorum_plus_one(60000).")
            try await node.control("stop_app")
            try node.kill()
            try await environment.waitForConfirms(200)
            try await node.startAgain()
            try await node.control("await_online_nodes", "3", "--timeout", "60")
        }
        try await environment.waitUntilReady()
    }

    /// All nodes are down at once, and come back together, with the newer version if there is one.
    ///
    /// RabbitMQ 4.3.6 does not start beside nodes of 4.0.5 (`unsupported`), so this is the only way from one to the
    /// other on the same data.
    static let clusterUpgrade = Scenario(
        name: "cluster-upgrade", domain: .broker,
        sentence: "all three nodes stop in order and start again; with a newer version, if APUS_RABBITMQ_NEXT_PROGRAMS "
            + "names a folder with its programs",
        setting: Setting(brokerNodes: 3, settleSeconds: handOverSeconds), redeliveries: 6
    ) { environment in
        let nodes = try environment.cluster.nodes
        let programs = PrivateRabbitMQ.nextPrograms
        if programs != nil { try await enableFeatureFlags(nodes[0]) }
        for node in nodes { try await node.control("stop_app") }
        for node in nodes { try node.kill() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { try await node.startAgain(with: programs) } }
            try await group.waitForAll()
        }
        for node in nodes {
            try await node.control("await_online_nodes", "3", "--timeout", "60")
            environment.say("\(node.nodeName) runs \(try await node.version())")
        }
        if programs != nil { try await enableFeatureFlags(nodes[0]) }
        try await environment.waitUntilReady()
    }

    /// Enables the feature flags that RabbitMQ demands before and after the nodes of a cluster get a newer version.
    private static func enableFeatureFlags(_ node: PrivateRabbitMQ) async throws {
        try await node.control("enable_feature_flag", "all")
        // 4.3 has no other store than Khepri, which 4.0 does not count among all.
        let flags = try await node.control("list_feature_flags", "name", "state")
        guard flags.contains(try Regex("khepri_db\\s+disabled")) else { return }
        try await node.control("enable_feature_flag", "--experimental", "khepri_db")
    }
}
