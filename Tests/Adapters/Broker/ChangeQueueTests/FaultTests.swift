import AMQP
import Backoffice
import ChangeEvents
import ChangeQueue
import EventLoop
import Glibc
import Messages
import Metrics
import PushTestKit
import Testing

@Suite("Faults of the broker and of librabbitmq", .serialized)
struct FaultTests {
    @Test("A broker that is stopped while we publish hangs no loop, and every message is confirmed once it runs on")
    func brokerStopsWhilePublishing() async throws {
        var queue = try await TestQueue.make(broker: FaultBroker.shared())
        queue.configuration.stallLimitSeconds = 1
        let publisher = try queue.makePublisher()
        let log = OutcomeLog()
        publisher.start(handler: log)
        #expect(await log.state.wait { $0.isReady })
        queue.broker.pause()
        // More than all socket buffers hold, so that a write stands still.
        let messages = queue.messages(0..<400, body: [UInt8](repeating: 7, count: 100_000))
        publisher.publish(messages)
        #expect(await log.state.wait { !$0.isReady })
        #expect(log.state.value.outcomes.isEmpty)
        queue.broker.resume()
        #expect(await log.state.wait(deadlineSeconds: 120) { $0.outcomes.count == messages.count })
        #expect(log.state.value.outcomes.values.allSatisfy { $0 == .confirmed })
        #expect(log.state.value.surplusCount == 0)
        #expect(await publisher.close(deadlineSeconds: 120))
        try await queue.remove()
    }

    @Test("A queue that is deleted under the consumer is noticed, named, and consumed again once it is back")
    func queueIsDeleted() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared())
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.isConsuming })
        try await queue.broker.control("delete_queue", queue.names.work)
        #expect(await log.state.wait { $0.isMisconfigured })
        guard case .misconfigured(let reason) = log.state.value.lastState else { return }
        #expect(reason.contains(queue.names.work))
        #expect(await log.state.wait { $0.states.contains { "\($0)".contains("apus topology apply") } })
        _ = try await queue.topology.apply(to: queue.configuration)
        #expect(await log.state.wait { $0.isConsuming && $0.epoch >= 2 })
        let outcomes = try await queue.publish(queue.messages(0..<1))
        #expect(outcomes == [0: .confirmed])
        #expect(await log.state.wait { $0.deliveries.count == 1 })
        consumer.settle(log.state.value.deliveries.map(\.tag))
        await consumer.close()
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        try await queue.remove()
    }

    @Test("A memory alarm stops the publisher and not the acknowledgements; afterwards everything is confirmed")
    func memoryAlarm() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared())
        _ = try await queue.publish(queue.messages(0..<500))
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        let publisher = try queue.makePublisher()
        let outcomes = OutcomeLog()
        publisher.start(handler: outcomes)
        #expect(await outcomes.state.wait { $0.isReady })
        #expect(await log.state.wait { $0.deliveries.count == 500 })
        try await queue.broker.control("set_vm_memory_high_watermark", "0.000001")
        publisher.publish(queue.messages(500..<600))
        #expect(await outcomes.state.wait { !$0.isReady })
        consumer.settle(log.state.value.deliveries.map(\.tag).shuffled())
        await consumer.cancel()
        await consumer.close()
        let blockedCount = try await queue.broker.messageCount(queue: queue.names.work)
        #expect(blockedCount <= 100)
        try await queue.broker.control("set_vm_memory_high_watermark", "0.6")
        #expect(await outcomes.state.wait { $0.outcomes.count == 100 && $0.isReady })
        #expect(outcomes.state.value.outcomes.values.allSatisfy { $0 == .confirmed })
        #expect(await publisher.close(deadlineSeconds: 120))
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 100)
        try await queue.remove()
    }

    @Test("Through a kill of the broker nothing confirmed is lost, and tags of the old connection are not acknowledged")
    func brokerIsKilled() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared())
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        let publisher = try queue.makePublisher()
        let outcomes = OutcomeLog()
        publisher.start(handler: outcomes)
        try await queue.broker.writeOutMetadata()
        let count: UInt64 = 5_000
        publisher.publish(queue.messages(0..<count))
        #expect(await outcomes.state.wait { $0.outcomes.count > 500 })
        try queue.broker.kill()
        #expect(await log.state.wait { !$0.isConsuming })
        // Under way when the broker died: it will send these again, and must not hear of the old numbers.
        let oldTags = log.state.value.deliveries.map(\.tag)
        try await queue.broker.startAgain()
        #expect(await log.state.wait(deadlineSeconds: 120) { $0.isConsuming && $0.epoch >= 2 })
        consumer.settle(oldTags)
        #expect(await outcomes.state.wait(deadlineSeconds: 120) { $0.outcomes.count == Int(count) })
        #expect(outcomes.state.value.surplusCount == 0)
        let refused = outcomes.state.value.outcomes.filter { $0.value != .confirmed }
        #expect(refused.values.allSatisfy { $0 == .refused || $0.isReturned }, "\(refused.prefix(3).map(\.value))")
        try await queue.publishUntilConfirmed(refused.keys.flatMap { queue.messages($0..<$0 + 1) })
        // Settle whatever comes until every message has come with the new epoch or been settled before.
        let epoch = log.state.value.epoch
        let settler = Task {
            var settledCount = 0
            while !Task.isCancelled {
                let seen = settledCount
                guard await log.state.wait(deadlineSeconds: 2, until: { $0.deliveries.count > seen }) else { continue }
                let deliveries = log.state.value.deliveries
                consumer.settle(deliveries[settledCount...].map(\.tag))
                settledCount = deliveries.count
            }
        }
        let isComplete = await log.state.wait(deadlineSeconds: 120) { state in
            Set(state.deliveries.filter { $0.tag.epoch >= epoch }.compactMap(\.message.properties.messageID)).count
                == Int(count)
        }
        #expect(isComplete)
        #expect(log.state.value.lastState == .consuming(epoch: epoch), "the old tags closed the channel")
        settler.cancel()
        consumer.settle(log.state.value.deliveries.map(\.tag))
        await consumer.cancel()
        await consumer.close()
        #expect(await publisher.close(deadlineSeconds: 120))
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        try await queue.remove()
    }

    @Test("A delivery that is held for longer than consumer_timeout comes again, and the cause has one name")
    func consumerTimesOut() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared())
        try await Self.setTimeouts(queue.broker, consumerMilliseconds: 2_000, tickMilliseconds: 500)
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        _ = try await queue.publish(queue.messages(0..<1))
        #expect(await log.state.wait(deadlineSeconds: 90) { $0.deliveries.count == 2 })
        #expect(log.state.value.states.contains { if case .interrupted = $0 { true } else { false } })
        consumer.settle(log.state.value.deliveries.map(\.tag))
        let series = #"apus_amqp_reconnects_total{connection="consume",reason="consumer_ended"} "#
        #expect(queue.metrics.render().contains(series + "1"), "\(queue.metrics.render())")
        await consumer.cancel()
        await consumer.close()
        // As they are by default.
        try await Self.setTimeouts(queue.broker, consumerMilliseconds: 1_800_000, tickMilliseconds: 5_000)
        try await queue.remove()
    }

    /// How long a delivery may be held, and how often channels (before 4.3) and queues look whether one was.
    private static func setTimeouts(
        _ broker: PrivateRabbitMQ, consumerMilliseconds: Int, tickMilliseconds: Int
    ) async throws {
        try await broker.evaluate(
            "[application:set_env(rabbit, Key, Value) || {Key, Value} <- [{consumer_timeout, \(consumerMilliseconds)}, "
                + "{channel_tick_interval, \(tickMilliseconds)}, {quorum_tick_interval, \(tickMilliseconds)}]], ok.")
    }

    @Test("Queues are made by a broker that is too busy to answer for longer than a worker's connection waits")
    func brokerIsBusyWhileQueuesAreMade() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared(), isApplied: false)
        // Queues are kept in Mnesia by 3.x, in either by 4.0, and in Khepri by 4.3.
        try await queue.broker.evaluate(
            """
            Asker = self(),
            Lock = fun() -> mnesia:write_lock_table(rabbit_queue), Asker ! held, receive release -> ok end end,
            Khepri = whereis(rabbitmq_metadata),
            HasKhepri = try rabbit_khepri:is_enabled() catch error:undef -> is_pid(Khepri) end,
            Hold = fun() -> case HasKhepri of
                false -> mnesia:transaction(Lock);
                true -> erlang:suspend_process(Khepri), Asker ! held, receive release -> ok end
            end end,
            register(apus_hold, spawn(Hold)),
            receive held -> ok after 60000 -> not_held end.
            """)
        async let findings = queue.topology.apply(to: queue.configuration)
        await #expect { try await Self.declareAsAWorkerWould(queue) } throws: { ($0 as? AMQPError)?.code == .timedOut }
        try await queue.broker.evaluate("apus_hold ! release, ok.")
        #expect(try await findings.allSatisfy { $0.status == .created })
        try await queue.remove()
    }

    @Test("A broker that stands still while it is asked is given up for its missing heartbeats, however patient we are")
    func brokerStandsStillWhileQueuesAreMade() async throws {
        let broker = try await FaultBroker.shared()
        let loop = try EventLoop(name: "test")
        defer { loop.stopAndJoin() }
        let message = try await loop.run { () -> String in
            var options = AMQPOptions()
            options.heartbeatSeconds = 1
            options.callTimeoutSeconds = 600
            options.stallLimitSeconds = 600
            let session = try AMQPSession(AMQPEndpoint(broker.url), options: options)
            defer { session.abandon() }
            broker.pause()
            do throws(AMQPError) {
                try session.declareQueue("unanswered")
                return ""
            } catch { return error.message }
        }
        #expect(message.contains("heartbeat"), "\(message)")
        broker.resume()
    }

    @Test("A broker killed in the middle of a replay loses no dead letter")
    func brokerIsKilledWhileReplaying() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared())
        try await queue.broker.writeOutMetadata()
        try await queue.bury(0..<1_000, reason: "test")
        let folder = try TemporaryFolder()
        let letters = queue.deadLetters(in: folder) { tally in
            // A kill between two batches, or between a confirm and the removal of its letter; both must do.
            if tally.doneCount == 400 { try? queue.broker.kill() }
        }
        await #expect(throws: ChangeQueueError.self) { try await letters.replay(DeadLetterSelection()) }
        try await queue.broker.startAgain()
        // Right after its start the broker may still count what it had handed out as taken, or refuse a publish.
        try await eventually("the dead letters to be replayed") {
            let tally = try await queue.deadLetters(in: folder).replay(DeadLetterSelection())
            return tally.collectedCount == 0 && tally.failure == nil
        }
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog { consumer.settle($0.map(\.tag)) }
        consumer.start(handler: log)
        let isComplete = await log.state.wait(deadlineSeconds: 120) { state in
            Set(state.deliveries.compactMap(\.message.properties.messageID)).count == 1_000
        }
        #expect(isComplete)
        await consumer.cancel()
        await consumer.close()
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == 0)
        try await queue.remove()
    }

    @Test("Events are spread over several work queues as before when the broker was killed and has come back")
    func spreadsAfterRestart() async throws {
        let queue = try await TestQueue.make(broker: FaultBroker.shared(), workQueueCount: 3)
        try await queue.broker.writeOutMetadata()
        try queue.broker.kill()
        try await queue.broker.startAgain()
        try await queue.publishUntilConfirmed(queue.messages(0..<300))
        // A quorum queue that has just come back confirms before it counts.
        try await eventually("all events to be counted, some in each queue") {
            var counts: [Int] = []
            for number in 1...3 { counts.append(try await queue.broker.messageCount(queue: queue.names.work(number))) }
            return counts
        } until: { counts in
            counts.reduce(0, +) >= 300 && counts.allSatisfy { $0 > 20 }
        }
        try await queue.remove()
    }

    /// Makes a queue over a session that waits for an answer as long as the connections of a worker do.
    private static func declareAsAWorkerWould(_ queue: TestQueue) async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stopAndJoin() }
        try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(queue.broker.url), options: AMQPOptions())
            defer { session.close() }
            try session.declareQueue("\(queue.names.namespace).other")
        }
    }
}
