import Notifications
import PushCore

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
