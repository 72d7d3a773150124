import ChangeEvents
import ChangeQueue
import Messages
import PushTestKit
import Testing

@Suite("Several work queues")
struct WorkQueueTests {
    @Test("Two workers on four queues get every message once, every queue has its share, and a subject stays in one")
    func spreads() async throws {
        let queue = try await TestQueue.make(workQueueCount: 4)
        #expect(try await queue.topology.apply(to: queue.configuration).allSatisfy { $0.status == .present })
        #expect(try await queue.publish(queue.messages(0..<2_000)).values.allSatisfy { $0 == .confirmed })
        var counts: [Int] = []
        for number in 1...4 { counts.append(try await queue.broker.messageCount(queue: queue.names.work(number))) }
        #expect(counts.reduce(0, +) == 2_000)
        #expect(counts.allSatisfy { $0 > 200 }, "\(counts)")
        let same = queue.messages(0..<100).map { message in
            var other = message
            other.routingKey = "dataset.changed.one"
            return other
        }
        _ = try await queue.publish(same)
        var grown = 0
        for number in 1...4
        where try await queue.broker.messageCount(queue: queue.names.work(number)) != counts[number - 1] { grown += 1 }
        #expect(grown == 1)
        let workers = [try SettlingConsumer(queue), try SettlingConsumer(queue)]
        for worker in workers { #expect(await worker.waitUntilConsuming()) }
        // One worker may have had all that waited before the other was there; what comes now is for both.
        _ = try await queue.publish(queue.messages(2_000..<2_900))
        try await Self.wait(for: 3_000, workers)
        #expect(workers.allSatisfy { !$0.messageIDs.isEmpty }, "\(workers.map(\.messageIDs.count))")
        for worker in workers { await worker.end() }
        #expect(workers.flatMap(\.messageIDs).count == 3_000)
        try await queue.remove()
    }

    @Test("A worker holds no more of four queues together than its prefetch")
    func sharesPrefetch() async throws {
        let queue = try await TestQueue.make(prefetch: 102, workQueueCount: 4)
        _ = try await queue.publish(queue.messages(0..<2_000))
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 102 })
        consumer.settle(log.state.value.deliveries.map(\.tag))
        #expect(await log.state.wait { $0.deliveries.count == 204 })
        await consumer.cancel()
        #expect(log.state.value.deliveries.count == 204)
        await consumer.close()
        try await queue.remove()
    }

    @Test("When the queues that were too many are gone, the others have the whole prefetch")
    func sharesOutPrefetch() async throws {
        let four = try await TestQueue.make(prefetch: 100, workQueueCount: 4)
        let one = four.with(workQueueCount: 1)
        let consumer = try one.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.epoch == 1 })
        _ = try await one.topology.apply(to: one.configuration)
        let findings = try await one.topology.deleteRetired(of: one.configuration, waitingSeconds: 60)
        #expect(findings.count == 3 && findings.allSatisfy { $0.status == .deleted }, "\(findings.map(\.description))")
        #expect(await log.state.wait { $0.epoch == 2 })
        _ = try await one.publish(one.messages(0..<300))
        #expect(await log.state.wait { $0.deliveries.count == 100 })
        await consumer.cancel()
        await consumer.close()
        try await one.remove()
    }

    @Test("Retries and what a worker without a hash left behind come back to the first queue, which all consume")
    func retries() async throws {
        let queue = try await TestQueue.make(retryDelaysMilliseconds: [200], workQueueCount: 2)
        let message = OutgoingMessage(
            identifier: 1, exchange: "", routingKey: queue.names.retry(delayMilliseconds: 200),
            message: Message(body: [1]))
        #expect(try await queue.publish([message]) == [1: .confirmed])
        let worker = try SettlingConsumer(queue)
        #expect(await worker.wait(forCount: 1))
        await worker.end()
        try await queue.remove()
    }

    @Test("From one queue to four, to two and back to one under load: nothing is lost, doubled or left behind")
    func scalesUnderLoad() async throws {
        let one = try await TestQueue.make()
        var workers = [try SettlingConsumer(one)]
        #expect(await workers[0].waitUntilConsuming())
        let publisher = try EndlessPublisher(one)
        for count in [4, 2, 1] {
            let queue = one.with(workQueueCount: count)
            #expect(await publisher.wait(forMore: 500))
            let before = try await queue.topology.apply(to: queue.configuration)
            #expect(before.contains { $0.isPending }, "\(before.map(\.description))")
            #expect(before.allSatisfy { $0.isGood || $0.isPending }, "\(before.map(\.description))")
            let last = workers[workers.count - 1]
            let next = try SettlingConsumer(queue)
            workers.append(next)
            #expect(await next.waitUntilConsuming())
            await last.end()
            #expect(await publisher.wait(forMore: 500))
            let after = try await queue.topology.apply(to: queue.configuration).prefix(queue.topology.objects.count)
            #expect(after.allSatisfy { $0.isGood }, "\(after.map(\.description))")
            let surplus = try await queue.topology.deleteRetired(of: queue.configuration, waitingSeconds: 120)
            #expect(surplus.allSatisfy { $0.status == .deleted }, "\(surplus.map(\.description))")
            #expect(surplus.count == (count == 4 ? 0 : count == 2 ? 2 : 1))
            #expect(try await queue.topology.check(queue.configuration).allSatisfy { $0.status == .present })
        }
        #expect(await publisher.wait(forMore: 500))
        let publishedCount = await publisher.end()
        #expect(publisher.returnedCount == 0)
        try await Self.wait(for: Int(publishedCount), workers)
        await workers[workers.count - 1].end()
        let received = workers.flatMap(\.messageIDs)
        #expect(Set(received) == Set(0..<publishedCount))
        #expect(received.count == Int(publishedCount), "\(Self.repeats(workers))")
        let exchanges = try await one.broker.control("list_exchanges", "name")
        #expect(!exchanges.contains(one.names.workHash))
        try await one.remove()
    }

    @Test("A queue too many is not deleted while it holds a message, or while a worker holds one of it")
    func keepsWhatHoldsMessages() async throws {
        let two = try await TestQueue.make(workQueueCount: 2)
        let one = two.with(workQueueCount: 1)
        _ = try await two.publish(two.messages(0..<200))
        let holder = try two.makeConsumer()
        let log = DeliveryLog()
        holder.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 200 })
        _ = try await one.topology.apply(to: one.configuration)
        await holder.cancel()
        // A queue whose leader is silent for 250 ms says that it has neither messages nor consumers.
        let held = try await eventually("the queue to count its consumer") {
            try await one.topology.deleteRetired(of: one.configuration, waitingSeconds: 2)
        } until: {
            $0.map(\.status) == [.surplus(messageCount: 0, consumerCount: 1)]
        }
        #expect(held.map(\.status) == [.surplus(messageCount: 0, consumerCount: 1)])
        await holder.close()
        let ready = try await one.topology.deleteRetired(of: one.configuration, waitingSeconds: 2)
        #expect(ready.count == 1 && ready.allSatisfy { $0.isPending && $0.status != held[0].status })
        let worker = try SettlingConsumer(one)
        #expect(await worker.wait(forCount: 200))
        let deleted = try await one.topology.deleteRetired(of: one.configuration, waitingSeconds: 120)
        #expect(deleted.map(\.status) == [.deleted])
        await worker.end()
        #expect(Set(worker.messageIDs) == Set(0..<200))
        try await one.remove()
    }

    @Test("A worker that knows of fewer queues than there are empties the others, also what comes later")
    func emptiesWhatItDoesNotKnow() async throws {
        let three = try await TestQueue.make(workQueueCount: 3)
        let worker = try SettlingConsumer(three.with(workQueueCount: 1))
        _ = try await three.publish(three.messages(0..<300))
        #expect(await worker.wait(forCount: 300))
        // It releases the queues that are quiet, and consumes them again.
        try await eventually("a queue without a consumer") {
            try await three.topology.apply(to: three.configuration)
        } until: {
            $0.contains { $0.status == .unconsumed }
        }
        _ = try await three.publish(three.messages(300..<600))
        #expect(await worker.wait(forCount: 600))
        await worker.end()
        #expect(Set(worker.messageIDs) == Set(0..<600))
        try await three.remove()
    }

    @Test("A worker whose second queue is missing says which, and begins when it is there")
    func saysWhatIsMissing() async throws {
        let one = try await TestQueue.make()
        let two = one.with(workQueueCount: 2)
        let consumer = try two.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.isMisconfigured })
        #expect("\(log.state.value.states)".contains("\(two.names.work(2)) is missing"))
        _ = try await two.topology.apply(to: two.configuration)
        #expect(await log.state.wait { $0.isConsuming })
        await consumer.cancel()
        await consumer.close()
        try await two.remove()
    }

    /// Says which workers got a message that had come before, and whether the broker says that it may have.
    private static func repeats(_ workers: [SettlingConsumer]) -> [String] {
        var receivers: [String: [String]] = [:]
        for (index, worker) in workers.enumerated() {
            for delivery in worker.deliveries {
                receivers[delivery.message.properties.messageID ?? "", default: []].append(
                    "worker \(index)\(delivery.isRedelivered ? " redelivered" : "")")
            }
        }
        return receivers.filter { $0.value.count > 1 }.map { "\($0.key): \($0.value.joined(separator: ", "))" }
    }

    private static func wait(for count: Int, _ workers: [SettlingConsumer]) async throws {
        try await eventually("\(count) deliveries") {
            workers.reduce(0) { $0 + $1.deliveries.count }
        } until: {
            $0 >= count
        }
    }
}
