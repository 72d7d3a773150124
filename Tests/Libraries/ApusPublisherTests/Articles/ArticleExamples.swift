import ApusPublisher

/// Every example of the documentation, so that it compiles; `ArticleTests` compares the texts.
enum ArticleExamples {
    static func firstEvent(_ configuration: PublisherConfiguration) async throws {
        let publisher = try EventPublisher(configuration)
        let source = EventSource("https://notes.example.com/backend")
        let dataset = Dataset(
            identityPoolID: "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c",
            identityID: "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41", name: "notes")
        try await publisher.publish(source.datasetChanged(dataset, syncCount: 8))
        await publisher.close()
    }

    static func configuration() -> PublisherConfiguration {
        var configuration = PublisherConfiguration(urls: [
            "amqps://notes:password@rabbit-1.example.com", "amqps://notes:password@rabbit-2.example.com",
        ])
        configuration.extraTrustAnchorsFile = "/etc/notes/rabbitmq-ca.pem"
        return configuration
    }

    static func check(_ publisher: EventPublisher) async throws {
        try await publisher.checkConnection()
    }

    static func datasets(_ publisher: EventPublisher, _ source: EventSource, _ dataset: Dataset) async throws {
        try await publisher.publish(source.datasetChanged(dataset, syncCount: 9, deviceID: "device-1"))
        try await publisher.publish(source.datasetDeleted(dataset))
        try await publisher.publish(source.datasetsMerged(into: dataset, from: ["drafts", "old-notes"]))
    }

    static func records(_ publisher: EventPublisher, _ source: EventSource) async throws {
        var song = Record(
            type: "Song", name: "song-1729",
            fields: ["title": "Dear", "price": 12.5, "venue": .location(latitude: 52.52, longitude: 13.405)],
            database: .private(userID: "mei"))
        try await publisher.publish(source.recordCreated(song))
        song.fields["price"] = 9.5
        try await publisher.publish(source.recordUpdated(song))
        try await publisher.publish(source.recordDeleted(song))
    }

    static func pushes(_ publisher: EventPublisher, _ source: EventSource) async throws {
        var push = Push(
            app: "chat", to: .users(["ann"]),
            .init(title: "Mei Chen", body: "Are you there?", data: ["room": "7"]))
        push.notification.sound = .named("default")
        push.collapseID = "room-7"
        push.android = Push.Variant(priority: .immediate)
        try await publisher.publish(source.pushRequested(push))
    }

    static func attributes(
        _ source: EventSource, _ dataset: Dataset, changeNumber: Int, traceparent: String
    ) throws -> Event {
        let attributes = EventAttributes(id: "change-\(changeNumber)", extensions: ["traceparent": traceparent])
        let event = try source.datasetChanged(dataset, syncCount: 10, attributes: attributes)
        return event
    }

    static func many(_ publisher: EventPublisher, events: [Event]) async {
        let results = await publisher.publish(events)
        for (event, result) in zip(events, results) where !result.isConfirmed { print(event.id, result) }
    }

    static func window() -> PublisherConfiguration {
        var configuration = PublisherConfiguration(url: "amqps://notes:password@rabbitmq.example.com")
        configuration.unconfirmedMaximum = 200
        configuration.timeout = .seconds(10)
        return configuration
    }

    static func errors(
        _ publisher: EventPublisher, _ event: Event, keepForLater: (Event) async -> Void
    ) async {
        do {
            try await publisher.publish(event)
        } catch  where error.isTemporary {
            print("not yet:", error)
            await keepForLater(event)
        } catch {
            print("never:", error)
        }
    }

    static func states(_ configuration: PublisherConfiguration) throws -> EventPublisher {
        let publisher = try EventPublisher(configuration) { state in
            switch state {
            case .ready(let text): print("publishing:", text)
            case .waiting(let reason): print("events wait:", reason)
            }
        }
        return publisher
    }

    static func end(_ publisher: EventPublisher) async {
        let isComplete = await publisher.close(deadline: .seconds(20))
        if !isComplete { print("some events are not confirmed") }
    }
}
