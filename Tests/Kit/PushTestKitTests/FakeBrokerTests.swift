import Dispatch
import Messages
import PushTestKit
import Testing

@Suite("The broker in memory")
struct FakeBrokerTests {
    @Test("A wait that begins while the last delivery is acknowledged sees it")
    func seesTheLastAcknowledgement() async {
        let broker = FakeBroker()
        let worker = DispatchQueue(label: "worker")
        for round in 1...20_000 {
            let tags = broker.deliver([Message(properties: MessageProperties(), body: [])])
            worker.async { broker.settle(tags) }
            await broker.wait { $0.settledTags.count == round }
        }
        #expect(broker.unacknowledgedCount == 0)
    }
}
