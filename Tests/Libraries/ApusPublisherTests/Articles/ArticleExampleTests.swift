import ApusPublisher
import ChangeEvents
import Messages
import PushTestKit
import Synchronization
import Testing

@Suite("ApusPublisher: the articles' examples run")
struct ArticleExampleTests {
    @Test("The first event, and one of each type, are confirmed, and understood by a worker")
    func eventsAreConfirmed() async throws {
        let bench = try await EventBroker()
        try await ArticleExamples.firstEvent(bench.configuration)
        let publisher = try ArticleExamples.states(bench.configuration)
        try await ArticleExamples.check(publisher)
        let (source, dataset) = (SampleEvents.source, SampleEvents.dataset)
        try await ArticleExamples.datasets(publisher, source, dataset)
        try await ArticleExamples.records(publisher, source)
        try await ArticleExamples.pushes(publisher, source)
        let traced = try ArticleExamples.attributes(
            source, dataset, changeNumber: 10,
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        await ArticleExamples.many(publisher, events: [traced])
        await ArticleExamples.end(publisher)
        let decoder = EventDecoder()
        let events = try await bench.takeAll(9).map { try decoder.decode($0.message) }
        #expect(
            events.map(\.type.rawValue) == [
                "dataset.changed", "dataset.changed", "dataset.deleted", "datasets.merged", "record.created",
                "record.updated", "record.deleted", "push.requested", "dataset.changed",
            ])
    }

    @Test("An event that is not confirmed is kept for later")
    func errors() async throws {
        var configuration = PublisherConfiguration(url: "amqp://127.0.0.1:1/")
        configuration.timeout = .milliseconds(50)
        let publisher = try EventPublisher(configuration)
        let event = try SampleEvents.changed(1)
        let kept = Mutex<[Event]>([])
        await ArticleExamples.errors(publisher, event) { event in kept.withLock { $0.append(event) } }
        #expect(kept.withLock { $0 } == [event])
        await publisher.close(deadline: .zero)
    }
}

@Suite("ApusPublisher: the outbox of the article")
struct OutboxTests {
    @Test("Orders that are committed are told of in order, those that are not are not, and the outbox is empty then")
    func relays() async throws {
        let bench = try await EventBroker()
        let folder = try TemporaryFolder()
        let store = try OrderStore(path: folder.path + "/shop.db")
        let publisher = try EventPublisher(bench.configuration)
        try await store.place("o-1", for: "ann")
        let relaying = Task { try await relay(store, to: publisher) }
        for number in 2...250 { try await store.place("o-\(number)", for: "ann") }
        // The same name again: neither the order nor the event.
        await #expect(throws: SQLiteConnection.Failure.self) { try await store.place("o-1", for: "ann") }
        // More than an event may say: no order either.
        await #expect(throws: PublisherError.self) {
            try await store.place(String(repeating: "o", count: 5_000), for: "ann")
        }
        try await eventually("an empty outbox") { try await store.oldestEvents(1).isEmpty }
        relaying.cancel()
        try await relaying.value
        await publisher.close()
        let bodies = try await bench.takeAll(250).map { String(decoding: $0.message.body, as: UTF8.self) }
        #expect(bodies.count == 250)
        for (number, body) in zip(1...250, bodies) { #expect(body.contains("We have your order o-\(number).")) }
    }

    @Test("What was published and not removed, because the program died in between, is published again with its id")
    func diesInBetween() async throws {
        let bench = try await EventBroker()
        let folder = try TemporaryFolder()
        let path = folder.path + "/shop.db"
        let publisher = try EventPublisher(bench.configuration)
        let first = try OrderStore(path: path)
        try await first.place("o-1", for: "ann")
        let event = try #require(try await first.oldestEvents(1).first?.event)
        try await publisher.publish(event)

        let store = try OrderStore(path: path)
        let relaying = Task { try await relay(store, to: publisher) }
        try await eventually("an empty outbox") { try await store.oldestEvents(1).isEmpty }
        relaying.cancel()
        try await relaying.value
        await publisher.close()
        #expect(try await bench.takeAll(2).map(\.message.properties.messageID) == [event.id, event.id])
    }

    @Test("While RabbitMQ does not confirm, the events stay in the outbox")
    func stays() async throws {
        let folder = try TemporaryFolder()
        let store = try OrderStore(path: folder.path + "/shop.db")
        var configuration = PublisherConfiguration(url: "amqp://127.0.0.1:1/")
        configuration.timeout = .milliseconds(50)
        let publisher = try EventPublisher(configuration)
        try await store.place("o-1", for: "ann")
        let relaying = Task { try await relay(store, to: publisher) }
        try await eventually("the event to wait") { publisher.unconfirmedCount == 1 }
        await publisher.close(deadline: .zero)
        relaying.cancel()
        try await relaying.value
        #expect(try await store.oldestEvents(10).count == 1)
    }
}
