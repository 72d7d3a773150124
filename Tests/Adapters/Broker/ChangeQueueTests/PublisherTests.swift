import ChangeEvents
import ChangeQueue
import Messages
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

@Suite("The confirmed publisher")
struct PublisherTests {
    @Test("An unroutable message comes back as returned, and its neighbours are confirmed")
    func returnsUnroutable() async throws {
        let queue = try await TestQueue.make()
        var messages = queue.messages(0..<100)
        messages[50].exchange = ""
        messages[50].routingKey = "\(queue.names.namespace).nowhere"
        let outcomes = try await queue.publish(messages)
        #expect(outcomes.count == 100)
        #expect(outcomes[50] == .returned("NO_ROUTE (312)"))
        #expect(outcomes.filter { $0.value == .confirmed }.count == 99)
        try await queue.remove()
    }

    @Test("A message that makes the broker close the channel is found and handed back; all others are confirmed")
    func isolatesPoison() async throws {
        let queue = try await TestQueue.make()
        var messages = queue.messages(0..<100)
        messages[30].exchange = "\(queue.names.namespace).no-such-exchange"
        messages[60].message.headers = [MessageHeader(String(repeating: "n", count: 256), .void)]
        let outcomes = try await queue.publish(messages)
        #expect(outcomes.count == 100)
        guard case .returned(let missing) = outcomes[30], case .rejected(let tooLong) = outcomes[60] else {
            Issue.record("\(String(describing: outcomes[30])) \(String(describing: outcomes[60]))")
            return
        }
        #expect(missing.contains("no-such-exchange"))
        #expect(tooLong.contains("256 bytes"))
        #expect(outcomes.filter { $0.value == .confirmed }.count == 98)
        try await queue.remove()
    }

    @Test("Where confirms come with the end of their channel, nothing more is published there, and all is confirmed")
    func publishesNothingOnAnEndedChannel() async throws {
        // So many may be unconfirmed: then a confirm lets the next one out.
        let windowCount = 1_024
        let broker = try await ScriptedBroker(.init(version: "4.2.7", publishesOnFirstChannel: windowCount))
        var configuration = try BrokerConfiguration(urls: [broker.url], namespace: "test")
        configuration.reconnectBaseSeconds = 0.01
        let publisher = try ConfirmedPublisher(
            configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let log = OutcomeLog()
        publisher.start(handler: log)
        publisher.publish(
            (0..<windowCount + 8).map { number in
                OutgoingMessage(
                    identifier: UInt64(number), exchange: "", routingKey: "test.fanout", message: Message(body: [1]))
            })
        #expect(await log.state.wait { $0.outcomes.count == windowCount + 8 })
        #expect(log.state.value.outcomes.values.allSatisfy { $0 == .confirmed })
        #expect(broker.facts.value.publishesAfterClose == 0)
        #expect(await publisher.close(deadlineSeconds: 60))
        try await broker.stop()
    }

    @Test("What a message carries for the broker is not acted upon again when the message is published on")
    func leavesOutWhatTheBrokerActsOn() async throws {
        let queue = try await TestQueue.make()
        var message = queue.messages(0..<1)[0]
        message.message.properties.userID = "someone-else"
        message.message.properties.expiration = "soon"
        message.message.properties.deliveryMode = 1
        message.message.headers = [
            MessageHeader("CC", .array([.string(queue.names.deadLetter)])),
            MessageHeader("x-death", .array([])), MessageHeader("kept", .int32(1)),
        ]
        #expect(try await queue.publish([message]) == [0: .confirmed])
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 1 })
        let delivered = try #require(log.state.value.deliveries.first)
        #expect(delivered.message.headers == [MessageHeader("kept", .int32(1))])
        #expect(delivered.message.properties.deliveryMode == 2)
        #expect(delivered.message.properties.userID == nil)
        #expect(delivered.message.properties.expiration == nil)
        #expect(delivered.exchange == queue.names.changes)
        #expect(delivered.routingKey == "test.0")
        #expect(delivered.deliveryClass == .interactive)
        await consumer.close()
        try await queue.remove()
    }

    @Test("A queue that is full refuses, and the refusal is reported")
    func reportsRefusals() async throws {
        let queue = try await TestQueue.make()
        try await queue.broker.control(
            "set_policy", queue.names.namespace, "^\(queue.names.fanout)$", "{\"max-length\": 5}", "--apply-to",
            "queues")
        var outcomes: Set<PublishOutcome> = []
        for _ in 0..<100 where !outcomes.contains(.refused) {
            let messages = (UInt64(0)..<20).map { identifier in
                OutgoingMessage(
                    identifier: identifier, exchange: "", routingKey: queue.names.fanout, message: Message(body: [1]))
            }
            let round = try await queue.publish(messages)
            #expect(round.count == 20)
            outcomes.formUnion(round.values)
        }
        #expect(outcomes == [.confirmed, .refused])
        try await queue.broker.control("clear_policy", queue.names.namespace)
        try await queue.remove()
    }

    @Test("With patience what a full queue refuses is published again until there is room, each message once")
    func publishesAgain() async throws {
        var queue = try await TestQueue.make()
        queue.configuration.refusedAgainSeconds = 120
        try await queue.broker.control(
            "set_policy", queue.names.namespace, "^\(queue.names.fanout)$", "{\"max-length\": 5}", "--apply-to",
            "queues")
        let publisher = try queue.makePublisher()
        let log = OutcomeLog()
        publisher.start(handler: log)
        var count = 0
        while !log.state.value.reasons.contains(where: { $0.contains("basic.nack") }) {
            let messages = (count..<count + 20).map { number in
                OutgoingMessage(
                    identifier: UInt64(number), exchange: "", routingKey: queue.names.fanout,
                    message: Message(body: [1]))
            }
            publisher.publish(messages)
            count += 20
            let sent = count
            #expect(
                await log.state.wait { state in
                    state.outcomes.count == sent || state.reasons.contains { $0.contains("basic.nack") }
                })
        }
        try await queue.broker.control("clear_policy", queue.names.namespace)
        #expect(await publisher.close(deadlineSeconds: 60))
        let state = log.state.value
        #expect(state.outcomes.count == count && state.surplusCount == 0)
        #expect(state.outcomes.values.allSatisfy { $0 == .confirmed })
        #expect(try await queue.broker.messageCount(queue: queue.names.fanout) == count)
        try await queue.remove()
    }

    @Test("With patience what no queue takes is published again until one is there, and given up when it ends")
    func publishesReturnedAgain() async throws {
        var queue = try await TestQueue.make(isApplied: false)
        queue.configuration.returnedAgainSeconds = 120
        // A queue that has just been made may refuse for a while: its leader is not elected yet.
        queue.configuration.refusalPatienceSeconds = 120
        let publisher = try queue.makePublisher()
        let log = OutcomeLog()
        publisher.start(handler: log)
        var messages = queue.messages(0..<3)
        messages[1].exchange = ""
        messages[1].routingKey = queue.names.fanout
        publisher.publish(messages)
        #expect(await log.state.wait { state in state.reasons.contains { $0.contains("no queue takes messages") } })
        _ = try await queue.topology.apply(to: queue.configuration)
        #expect(await publisher.close(deadlineSeconds: 120))
        #expect(log.state.value.outcomes == [0: .confirmed, 1: .confirmed, 2: .confirmed])
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 2)

        queue.configuration.returnedAgainSeconds = 0.3
        messages[1].routingKey = "\(queue.names.namespace).nowhere"
        #expect(try await queue.publish(messages)[1] == .returned("NO_ROUTE (312)"))
        try await queue.remove()
    }

    @Test("A queue that goes on refusing is tried on another channel, and what others take meanwhile is published once")
    func opensAnotherChannel() async throws {
        var queue = try await TestQueue.make()
        queue.configuration.refusalPatienceSeconds = 0.2
        try await queue.broker.control(
            "set_policy", queue.names.namespace, "^\(queue.names.fanout)$", "{\"max-length\": 1}", "--apply-to",
            "queues")
        let publisher = try queue.makePublisher()
        let log = OutcomeLog()
        publisher.start(handler: log)
        var identifier: UInt64 = 0
        while log.state.value.reasons.count < 3 {
            let messages = (identifier..<identifier + 20).map { number in
                OutgoingMessage(
                    identifier: number, exchange: "",
                    routingKey: number % 2 == 0 ? queue.names.fanout : queue.names.deadLetter,
                    message: Message(body: [1]))
            }
            publisher.publish(messages)
            identifier += 20
            let count = Int(identifier)
            #expect(await log.state.wait { $0.outcomes.count == count })
        }
        #expect(await publisher.close(deadlineSeconds: 120))
        let outcomes = log.state.value.outcomes
        #expect(outcomes.values.contains(.refused) && log.state.value.surplusCount == 0)
        #expect(outcomes.allSatisfy { $0.key % 2 == 0 || $0.value == .confirmed })
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == Int(identifier / 2))
        try await queue.broker.control("clear_policy", queue.names.namespace)
        try await queue.remove()
    }
}
