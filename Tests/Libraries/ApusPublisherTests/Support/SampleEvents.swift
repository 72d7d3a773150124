import ApusPublisher

/// Events for the tests of the publisher.
enum SampleEvents {
    static let source = EventSource("https://notes.example.com/backend", typePrefix: "com.example")
    static let dataset = Dataset(
        identityPoolID: "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c",
        identityID: "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41", name: "notes")

    /// A change whose identifier and sync count are a number.
    static func changed(_ number: Int) throws -> Event {
        try source.datasetChanged(
            dataset, syncCount: Int64(number), attributes: EventAttributes(id: "event-\(number)"))
    }

    static func changes(_ numbers: Range<Int>) throws -> [Event] { try numbers.map { try changed($0) } }
}
