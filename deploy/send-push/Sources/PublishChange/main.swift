import ApusPublisher

let url = CommandLine.arguments.dropFirst().first ?? "amqp://guest:guest@127.0.0.1/"
let publisher = try EventPublisher(PublisherConfiguration(url: url))
let source = EventSource("https://notes.example.com/backend")
let dataset = Dataset(
    identityPoolID: "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c",
    identityID: "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41", name: "notes")
try await publisher.publish(source.datasetChanged(dataset, syncCount: 8))
await publisher.close()
