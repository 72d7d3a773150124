import ChangeEvents
import DispatchCore
import Essentials
import Messages
import Notifications
import Synchronization

/// An event that every worker of Apus accepts: a structured CloudEvent in JSON, checked by the worker's own code.
///
/// An `EventSource` makes it. Facts of the worker's configuration are not checked: the apps, their identity pools and
/// their push services.
public struct Event: Hashable, Sendable {
    /// The worker's own check; each event is checked once.
    private static let validator = Mutex(EventValidator())

    /// The CloudEvents attribute `id`; with `source` it names the event, however often it is published.
    public let id: String
    /// The CloudEvents attribute `source`.
    public let source: String
    /// The type, for example `dataset.changed`, without the prefix that your type may have.
    public let type: String
    /// The routing key: the type and the subject, for example `dataset.changed.IDENTITY.DATASET`.
    public let routingKey: String
    /// The whole event, as it is published: UTF-8 text, to be stored in an outbox.
    public let json: [UInt8]

    /// Takes an event that was stored, or that another program has written.
    ///
    /// - Parameter json: the whole event, at most 4 MiB.
    /// - Throws: `PublisherError` (`eventInvalid`), which names the member, its value and the rule.
    public init(json: [UInt8]) throws(PublisherError) {
        let message = Self.message(json)
        let event: ChangeEvent
        do throws(EventRejection) {
            event = try Self.validator.withLock { validator throws(EventRejection) in try validator.validate(message) }
        } catch { throw PublisherError(.eventInvalid, error.message) }
        id = event.identifier
        source = event.source
        type = event.type.rawValue
        routingKey = event.routingKey
        self.json = json
    }

    /// The message, with the time of publishing, from which the worker counts the age of the event.
    func message(unixSeconds: UInt64) -> Message {
        var message = Self.message(json)
        message.properties.messageID = id
        message.properties.timestampSeconds = unixSeconds
        return message
    }

    private static func message(_ json: [UInt8]) -> Message {
        var properties = MessageProperties()
        properties.contentType = "application/cloudevents+json"
        return Message(properties: properties, body: json)
    }
}
