import ChangeEvents
public import Essentials
import Hashing
internal import JSON
public import Messages
import Notifications
import RegistryCore
import Tracing

/// The messages that tell a backend what became of the pushes of one event.
///
/// Each is a CloudEvent in binary mode: attributes in headers, the data in the body as JSON. It tells of pushes of one
/// app with one outcome, so queues can be bound by both:
///
///     routing key    OUTCOME.EVENT-TYPE.APP, for example token-dead.push.requested.chat
///     type           apus.push.OUTCOME
///     source         /apus/NAMESPACE-OF-THE-EXCHANGE
///     traceparent    the span of the worker's delivery if it is recorded, else what the event says, if anything
///     id             the same if the same pushes of the event are told of again, in whatever order they end
public struct OutcomeMessage {
    /// A message, and of what it tells.
    typealias Told = (routingKey: String, message: Message, app: String, kind: OutcomeKind)

    /// The most pushes that one message tells of, so that it stays well below the broker's limit for messages.
    static let pushesMaximum = 500
    /// How the names of headers begin that hold attributes (CloudEvents AMQP binding 1.0.2 §3.1.3.1).
    public static let attributePrefix = "cloudEvents_"

    /// The event that asked for the pushes.
    let event: OutcomeEvent
    /// The name of the exchange for outcomes.
    let exchange: String

    /// Creates the messages of an event for an exchange.
    public init(event: OutcomeEvent, exchange: String) {
        self.event = event
        self.exchange = exchange
    }

    /// Makes the messages for some pushes of the event.
    ///
    /// - Parameters:
    ///   - pushes: the pushes, of any apps and with any outcomes.
    ///   - now: the time.
    /// - Returns: the messages.
    public func messages(_ pushes: [EndedPush], at now: WallTime) -> [Message] {
        told(pushes, at: now).map(\.message)
    }

    /// Makes the messages for some pushes of the event, with their routing keys.
    func told(_ pushes: [EndedPush], at now: WallTime) -> [Told] {
        var groups: [(app: String, kind: OutcomeKind, pushes: [EndedPush])] = []
        // In one order, so that the same pushes share a message when the event comes again.
        for push in pushes.count > Self.pushesMaximum ? pushes.sorted(by: Self.precedes) : pushes {
            let index = groups.firstIndex { group in
                group.kind == push.kind && group.pushes.count < Self.pushesMaximum
                    && group.app.hasBytes(of: push.recipient.app)
            }
            if let index {
                groups[index].pushes.append(push)
            } else {
                groups.append((push.recipient.app, push.kind, [push]))
            }
        }
        return groups.map { group in
            (
                routingKey(group.kind, group.app), message(group.pushes, kind: group.kind, app: group.app, at: now),
                group.app, group.kind
            )
        }
    }

    /// Makes the message that the event ended as a whole, before its devices were known.
    ///
    /// - Parameters:
    ///   - kind: the outcome of the event.
    ///   - app: the app.
    ///   - reason: why, as a word; empty if it expired.
    ///   - now: the time.
    /// - Returns: a message, which tells of no pushes.
    func told(ofWhole kind: OutcomeKind, app: String, reason: String, at now: WallTime) -> Told {
        (routingKey(kind, app), message([], kind: kind, app: app, reason: reason, at: now), app, kind)
    }

    private func routingKey(_ kind: OutcomeKind, _ app: String) -> String {
        "\(kind.rawValue).\(event.type.rawValue).\(app)"
    }

    private func message(
        _ pushes: [EndedPush], kind: OutcomeKind, app: String, reason: String = "", at now: WallTime
    ) -> Message {
        let identifier = identifier(pushes, kind, app: app)
        let type = "apus.push.\(kind.rawValue)"
        var properties = MessageProperties()
        properties.contentType = "application/json"
        properties.deliveryMode = 2
        properties.messageID = identifier
        properties.timestampSeconds = UInt64(now.seconds)
        properties.type = type
        properties.appID = "apus"
        let attributes = [
            ("specversion", "1.0"), ("id", identifier), ("source", "/apus/\(exchange)"), ("type", type),
            ("subject", event.identifier), ("time", WallTime.text(milliseconds: now.milliseconds)),
        ]
        let traced = event.trace.map { trace in
            [("traceparent", trace.traceParent)] + (trace.state.map { [("tracestate", $0.text)] } ?? [])
        }
        let headers = (attributes + (traced ?? [])).map { name, value in
            MessageHeader(Self.attributePrefix + name, .string(value))
        }
        return Message(
            properties: properties, headers: headers, body: body(pushes, kind: kind, app: app, reason: reason))
    }

    private static func precedes(_ push: EndedPush, _ other: EndedPush) -> Bool {
        let (name, otherName) = (ByteText(push.recipient.deviceID), ByteText(other.recipient.deviceID))
        return name == otherName
            ? ByteText(push.subscriptionID ?? "") < ByteText(other.subscriptionID ?? "") : name < otherName
    }

    /// The identifier of a message: a digest of what it tells, without the times.
    ///
    /// The digests of the pushes are added up, because a push may end before or after another.
    private func identifier(_ pushes: [EndedPush], _ kind: OutcomeKind, app: String) -> String {
        var digest = WordDigest()
        digest.mix(event.source)
        digest.mix(event.identifier)
        digest.mix(kind.rawValue)
        digest.mix(word: UInt64(event.retryState.attempt))
        if pushes.isEmpty { digest.mix(app) }
        var sum: (high: UInt64, low: UInt64) = (0, 0)
        for push in pushes {
            var told = WordDigest()
            told.mix(push.recipient.deviceID)
            told.mix(push.reason)
            // A device gets a push for each of its visible subscriptions, perhaps from different pages.
            if let subscriptionID = push.subscriptionID { told.mix(subscriptionID) }
            told.finish()
            sum = (sum.high &+ told.high, sum.low &+ told.low)
        }
        digest.mix(word: sum.high)
        digest.mix(word: sum.low)
        digest.finish()
        return APNsIdentifier(digest: digest).description
    }

    private func body(_ pushes: [EndedPush], kind: OutcomeKind, app: String, reason: String) -> [UInt8] {
        var json = JSONWriter(capacityBytes: 256 + 160 * pushes.count)
        json.beginObject()
        json.key("outcome")
        json.string(kind.rawValue)
        json.key("app")
        json.string(app)
        json.key("event")
        writeEvent(into: &json)
        json.key("attempt")
        json.integer(Int64(event.retryState.attempt) + 1)
        write(reason.isEmpty ? nil : reason, as: "reason", into: &json)
        json.key("pushes")
        json.beginArray()
        for push in pushes { write(push, into: &json) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func writeEvent(into json: inout JSONWriter) {
        json.beginObject()
        json.key("source")
        json.string(event.source)
        json.key("id")
        json.string(event.identifier)
        json.key("type")
        json.string(event.type.rawValue)
        json.key("publishedAtMs")
        json.integer(event.retryState.published.milliseconds)
        json.key("firstSeenAtMs")
        json.integer(event.retryState.firstSeen.milliseconds)
        switch event.kind {
        case .dataset(let change): write(change, into: &json)
        case .record(let change):
            json.key("recordType")
            json.string(change.recordType)
            json.key("recordName")
            json.string(change.recordName)
        case .push(let push): write(push.campaign, as: "campaign", into: &json)
        case nil: break
        }
        json.endObject()
    }

    private func write(_ change: DatasetChange, into json: inout JSONWriter) {
        json.key("identityPoolId")
        json.string(change.key.identityPoolID)
        json.key("identityId")
        json.string(change.key.identityID)
        json.key("datasetName")
        json.string(change.key.datasetName)
        guard let count = change.syncCount else { return }
        json.key("syncCount")
        json.integer(count)
    }

    private func write(_ push: EndedPush, into json: inout JSONWriter) {
        json.beginObject()
        json.key("deviceId")
        json.string(push.recipient.deviceID)
        json.key("platform")
        json.string(push.recipient.platform.rawValue)
        write(push.recipient.registration?.identityID, as: "identityId", into: &json)
        write(push.recipient.registration?.userID, as: "userId", into: &json)
        write(push.subscriptionID, as: "subscriptionId", into: &json)
        if let apnsID = push.apnsID {
            json.key("pushId")
            json.string(apnsID.description)
            json.key("sends")
            json.integer(Int64(push.sends))
        }
        write(push.reason.isEmpty ? nil : push.reason, as: "reason", into: &json)
        json.key("endedAtMs")
        json.integer(push.ended.milliseconds)
        json.endObject()
    }

    private func write(_ text: String?, as key: StaticString, into json: inout JSONWriter) {
        guard let text else { return }
        json.key(key)
        json.string(text)
    }
}
