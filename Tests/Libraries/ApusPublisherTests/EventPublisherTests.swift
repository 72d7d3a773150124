import ApusPublisher
import ChangeEvents
import ChangeQueue
import Foundation
import Messages
import PushTestKit
import Testing

@Suite("ApusPublisher: the publisher and RabbitMQ")
struct EventPublisherTests {
    @Test("An event is confirmed, and a worker gets it as it was: persistent, with its identifier and its time")
    func confirmed() async throws {
        let bench = try await EventBroker()
        let states = StateLog()
        let publisher = try EventPublisher(bench.configuration, stateHandler: states.handler)
        try await publisher.checkConnection()
        let event = try SampleEvents.changed(7)
        try await publisher.publish(event)
        #expect(await publisher.publish([]).isEmpty)
        #expect(await publisher.close())
        guard case .ready = states.states.value.last else {
            Issue.record("\(states.states.value)")
            return
        }
        let message = try #require(try await bench.takeAll(1).first)
        #expect(message.exchange == bench.names.changes && message.routingKey == event.routingKey)
        #expect(message.message.body == event.json)
        let properties = message.message.properties
        #expect(properties.deliveryMode == 2 && properties.messageID == "event-7")
        #expect(properties.contentType == "application/cloudevents+json" && properties.timestampSeconds != nil)

        let late = try await #require(throws: PublisherError.self) { try await publisher.publish(event) }
        #expect(late.code == .closed && late.isTemporary)
    }

    @Test("Many events of many tasks are confirmed within a small window, each batch in its order")
    func manyAtOnce() async throws {
        var bench = try await EventBroker()
        bench.configuration.unconfirmedMaximum = 16
        let publisher = try EventPublisher(bench.configuration)
        let results = try await withThrowingTaskGroup(of: [PublishResult].self) { group in
            for task in 0..<8 {
                let events = try SampleEvents.changes(task * 100..<task * 100 + 100)
                group.addTask { await publisher.publish(events) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.count == 800 && results.allSatisfy { $0.isConfirmed })
        #expect(publisher.unconfirmedCount == 0)
        #expect(await publisher.close())
        let numbers = try await bench.takeAll(800).compactMap { delivery in
            delivery.message.properties.messageID.flatMap { Int($0.dropFirst("event-".count)) }
        }
        #expect(numbers.count == 800)
        for task in 0..<8 {
            #expect(numbers.filter { $0 / 100 == task } == Array(task * 100..<task * 100 + 100))
        }
    }

    @Test(
        "An event that was not confirmed when the connection broke is published again on the next, with the same id",
        arguments: FaultTrigger.Moment.allCases)
    func connectionBreaks(moment: FaultTrigger.Moment) async throws {
        var bench = try await EventBroker()
        let proxy = try await FaultProxy.start(to: bench.broker.port, readsAMQP: true)
        try await proxy.set(FaultTrigger(.method(.publish, moment), occurrence: 150))
        bench.configuration.urls = ["amqp://guest:guest@127.0.0.1:\(proxy.port)/"]
        let publisher = try EventPublisher(bench.configuration)
        let events = try SampleEvents.changes(0..<300)
        let results = await publisher.publish(events)
        #expect(results.allSatisfy { $0.isConfirmed })
        #expect(await proxy.waitForStrikes(1))
        #expect(await publisher.close())
        let count = try await bench.messageCount()
        let identifiers = try await bench.takeAll(count).compactMap(\.message.properties.messageID)
        #expect(count >= 300 && Set(identifiers) == Set(events.map(\.id)))
        try await proxy.stop()
    }

    @Test("What a full queue refuses is published again, and confirmed once there is room")
    func fullQueue() async throws {
        let bench = try await EventBroker()
        try await bench.setFull(true)
        let states = StateLog()
        let publisher = try EventPublisher(bench.configuration, stateHandler: states.handler)
        // RabbitMQ tells a channel that the queue is full a little after it is.
        let publishing = Task { () -> Int in
            var count = 0
            while !states.isRefused {
                let results = await publisher.publish(try SampleEvents.changes(count..<count + 20))
                #expect(results.allSatisfy { $0.isConfirmed })
                count += 20
            }
            return count
        }
        #expect(await states.waitForObstacle("RabbitMQ refuses messages (basic.nack)"))
        try await bench.setFull(false)
        let count = try await publishing.value
        #expect(await publisher.close())
        #expect(try await bench.messageCount() == count)
    }

    @Test("What a full queue goes on refusing fails as refused when the time ends")
    func fullForLong() async throws {
        var bench = try await EventBroker()
        bench.configuration.timeout = .seconds(4)
        try await bench.setFull(true)
        let publisher = try EventPublisher(bench.configuration)
        var failures: Set<PublisherError> = []
        try await eventually("a refusal") {
            for case .failed(let error) in await publisher.publish(try SampleEvents.changes(0..<20)) {
                failures.insert(error)
            }
            return failures
        } until: {
            !$0.isEmpty
        }
        for error in failures {
            #expect(error.code == .refused || error.code == .timedOut)
            #expect(error.isTemporary && error.message.contains("basic.nack"), "\(error)")
        }
        await publisher.close()
        try await bench.setFull(false)
    }

    @Test("What no queue takes is published again until one does")
    func returned() async throws {
        let bench = try await EventBroker(isApplied: false)
        let states = StateLog()
        let publisher = try EventPublisher(bench.configuration, stateHandler: states.handler)
        async let results = publisher.publish(try SampleEvents.changes(0..<3))
        #expect(await states.waitForObstacle("no queue takes messages"))
        try await bench.apply()
        #expect(try await results == [.confirmed, .confirmed, .confirmed])
        #expect(await publisher.close())
        #expect(try await bench.messageCount() == 3)
    }

    @Test("What no queue ever takes fails as unroutable, with what to do")
    func unroutable() async throws {
        var bench = try await EventBroker(isApplied: false)
        bench.configuration.timeout = .seconds(5)
        let publisher = try EventPublisher(bench.configuration)
        let event = try SampleEvents.changed(1)
        let error = try await #require(throws: PublisherError.self) { try await publisher.publish(event) }
        #expect(error.code == .unroutable || error.code == .timedOut)
        #expect(error.message.contains(bench.names.changes), "\(error)")
        await publisher.close(deadline: .seconds(1))
    }

    @Test("Over TLS a certificate that is trusted is needed, and the failure says so")
    func overTLS() async throws {
        let certificate = try await RabbitMQCertificate.make(host: "localhost")
        defer { certificate.remove() }
        let broker = try await PrivateRabbitMQ.start(certificate: certificate)
        defer { broker.stop() }
        var bench = try await EventBroker(broker)
        bench.configuration.urls = ["amqps://guest:guest@localhost:\(try #require(broker.tlsPort))/"]
        let stranger = try EventPublisher(bench.configuration)
        let error = try await #require(throws: PublisherError.self) { try await stranger.checkConnection() }
        #expect(error.code == .connectionFailed && error.message.contains("self-signed certificate"), "\(error)")
        await stranger.close(deadline: .zero)

        bench.configuration.extraTrustAnchorsFile = certificate.certificateFile
        let publisher = try EventPublisher(bench.configuration)
        try await publisher.publish(SampleEvents.changed(1))
        #expect(await publisher.close())
        #expect(try await bench.messageCount() == 1)
    }
}

extension StateLog {
    /// Whether RabbitMQ has refused an event so far.
    fileprivate var isRefused: Bool {
        states.read { states in
            states.contains { state in
                if case .waiting(let reason) = state { reason.contains("basic.nack") } else { false }
            }
        }
    }
}
