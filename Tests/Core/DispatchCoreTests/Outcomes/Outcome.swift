import ChangeEvents
import JSON
import Messages

/// An outcome as a backend reads it.
struct Outcome {
    let routingKey: String
    let deviceIDs: [String]
    let reasons: [String]
    let attempt: Int64?
    private let headers: [MessageHeader]
    let text: String

    init(_ message: OutgoingMessage) {
        routingKey = message.routingKey
        headers = message.message.headers
        text = String(decoding: message.message.body, as: UTF8.self)
        let parser = JSONParser()
        let body = try? parser.parse(message.message.body)
        let pushes = body?["pushes"]?.array.map(Array.init) ?? []
        deviceIDs = pushes.compactMap { $0["deviceId"]?.string }
        reasons = pushes.map { $0["reason"]?.string ?? "" }
        attempt = body?["attempt"]?.int64
    }

    /// An attribute of the CloudEvent.
    func attribute(_ name: String) -> String? {
        guard case .string(let text) = headers.first(where: { $0.name == "cloudEvents_\(name)" })?.value else {
            return nil
        }
        return text
    }
}
