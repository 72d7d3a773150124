import ChangeEvents
import Messages
import Notifications

/// Makes the events of the tests, as JSON text.
enum EventText {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    static let identity = "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41"

    /// The members of the data of a `dataset.changed`, as JSON texts.
    static let datasetFields: [String: String] = [
        "identityPoolId": "\"\(pool)\"", "identityId": "\"\(identity)\"", "datasetName": "\"settings\"",
        "syncCount": "42", "deviceId": "\"device-1\"",
    ]

    /// The members of the data of a `push.requested`, as JSON texts.
    static let pushFields: [String: String] = [
        "app": "\"chat\"", "topic": "\"news\"", "notification": "{\"body\":\"Hello\"}",
    ]

    static func object(_ fields: [String: String]) -> String {
        "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// A whole structured event.
    static func event(_ type: String, data: [String: String], _ attributes: [String: String?] = [:]) -> [UInt8] {
        var all: [String: String] = [
            "specversion": "\"1.0\"", "id": "\"e-1\"", "source": "\"/tests\"", "type": "\"\(type)\"",
            "data": object(data),
        ]
        for (name, value) in attributes { all[name] = value }
        return Array(object(all).utf8)
    }

    static func changed(_ changes: [String: String?] = [:], _ attributes: [String: String?] = [:]) -> [UInt8] {
        var data = datasetFields
        for (name, value) in changes { data[name] = value }
        return event("com.example.dataset.changed", data: data, attributes)
    }

    static func push(_ changes: [String: String?] = [:]) -> [UInt8] {
        var data = pushFields
        for (name, value) in changes { data[name] = value }
        return event("com.example.push.requested", data: data)
    }

    static func push(notification: String) -> [UInt8] { push(["notification": notification]) }
}

/// Decodes what the tests write, with a decoder that is reused.
struct EventDecoding {
    let decoder = EventDecoder()

    static let cloudEvent = "application/cloudevents+json"

    func message(_ body: [UInt8], contentType: String? = cloudEvent) -> Message {
        var properties = MessageProperties()
        properties.contentType = contentType
        return Message(properties: properties, body: body)
    }

    func event(_ body: [UInt8]) throws(EventRejection) -> ChangeEvent { try decoder.decode(message(body)) }

    func rejection(_ message: Message) -> EventRejection? {
        do throws(EventRejection) {
            _ = try decoder.decode(message)
            return nil
        } catch {
            return error
        }
    }

    func rejection(_ body: [UInt8]) -> EventRejection? { rejection(message(body)) }

    func dataset(_ body: [UInt8]) throws -> DatasetChange? {
        guard case .dataset(let change) = try event(body).kind else { return nil }
        return change
    }

    func push(_ body: [UInt8]) throws -> RequestedPush? {
        guard case .push(let push) = try event(body).kind else { return nil }
        return push
    }
}
