import ChangeQueue
import PushTestKit
import Testing

@Suite("Deleting work queues that are too many")
struct SurplusDeletionTests {
    @Test("A queue whose leader is silent keeps its messages, though a passive declare calls it empty and unused")
    func believesNoSilentLeader() async throws {
        let cluster = try await PrivateRabbitMQCluster.start()
        defer { cluster.stop() }
        let two = try await TestQueue.make(broker: cluster.nodes[0], workQueueCount: 2)
        try await two.publishUntilConfirmed(two.messages(0..<200))
        let surplus = two.names.work(2)
        let leader = try await cluster.leader(of: surplus, witness: cluster.nodes[1])
        let witness = try #require(cluster.nodes.first { $0 !== leader })
        var one = two.with(workQueueCount: 1)
        one.configuration = try BrokerConfiguration(urls: [witness.url], namespace: two.names.namespace)
        #expect(try await one.topology.apply(to: one.configuration).filter { !$0.isGood }.count == 1)
        let heldCount = try await witness.messageCount(queue: surplus)
        #expect(heldCount > 0)
        leader.pause()
        let findings = try await one.topology.deleteRetired(of: one.configuration, waitingSeconds: 3)
        leader.resume()
        #expect(findings.count == 1 && findings.allSatisfy { $0.isPending }, "\(findings.map(\.description))")
        #expect(try await witness.messageCount(queue: surplus) == heldCount)
    }
}
