import ChangeEvents
import DispatchCore
public import Essentials
internal import JSON
public import Messages
import Notifications
import RegistryCore

/// The body of a request to an app's backend, as Standard Webhooks recommends it: type, time and outcome.
///
///     {"type": "apus.push.accepted", "timestamp": "2025-11-25T17:00:00.187Z", "data": {…}}
///
/// `data` is the body of the message that a worker has published, byte for byte.
public struct WebhookPayload: Hashable, Sendable {
    /// The identifier of the outcome, the same at each attempt.
    public let identifier: String
    /// The body: JSON in UTF-8.
    public let body: [UInt8]

    /// Makes the body for a message.
    ///
    /// - Parameter message: a message that came by the exchange for outcomes.
    /// - Throws: `OutcomeReport.Fault` if it is none that a worker has written.
    public init(_ message: Message) throws(OutcomeReport.Fault) {
        identifier = message.properties.messageID ?? ""
        // A full stop would let one identifier be read as another and a time.
        let isIdentifier = identifier.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                || byte == 95
        }
        guard isIdentifier, (1...128).contains(identifier.utf8.count) else {
            throw OutcomeReport.Fault(description: "the message has no identifier of letters, digits, '-' and '_'")
        }
        let word: String?
        do throws(JSONError) {
            word = try JSONParser(depthMaximum: 8).parse(message.body)["outcome"]?.string
        } catch { throw OutcomeReport.Fault(description: "the body is no JSON: \(error.message)") }
        guard let word else { throw OutcomeReport.Fault(description: "outcome is missing, or no text") }
        body = Self.body(type: "apus.push.\(word)", at: message.outcomeTime, data: message.body)
    }

    /// An outcome that was made up, to try an endpoint: one accepted push, told as a worker tells it.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - identifier: the identifier of the outcome.
    ///   - now: the time.
    /// - Returns: the body; its event has the source `/apus/webhooks/test`.
    /// - Throws: `OutcomeReport.Fault` if the identifier is none that a worker writes.
    public static func sample(
        app: String, identifier: String, at now: WallTime
    ) throws(OutcomeReport.Fault) -> WebhookPayload {
        let outline = EventOutline(
            source: "/apus/webhooks/test", identifier: "test", type: EventType.pushRequested.rawValue)
        let delivery = Delivery(
            tag: DeliveryTag(epoch: 0, number: 0), deliveryClass: .interactive, isRedelivered: false, exchange: "",
            routingKey: "", message: Message(body: []))
        let history = RetryState(of: delivery, nowMilliseconds: now.milliseconds)
        guard let event = OutcomeEvent(outline, history), let token = DeviceToken(bytes: [0]) else {
            throw OutcomeReport.Fault(description: "the sample is no event")
        }
        let push = EndedPush(
            recipient: Recipient(deviceID: "sample-device", platform: .apns, token: token, app: app), kind: .accepted,
            reason: "", apnsID: APNsIdentifier(high: 0x4000, low: 1 << 63), sends: 1, ended: now)
        guard var message = OutcomeMessage(event: event, exchange: "webhooks").messages([push], at: now).first
        else { throw OutcomeReport.Fault(description: "the sample is no outcome") }
        message.properties.messageID = identifier
        return try WebhookPayload(message)
    }

    private static func body(type: String, at time: WallTime, data: [UInt8]) -> [UInt8] {
        JSONWriter.object(capacityBytes: data.count + 128) { json in
            json.member("type", type)
            json.member("timestamp", WallTime.text(milliseconds: time.milliseconds))
            json.key("data")
            json.raw(data)
        }
    }
}
