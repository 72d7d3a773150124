public import Essentials
internal import JSON

/// The body of a request to an app's backend, as Standard Webhooks recommends it: what happened, when, and the outcome.
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
        body = Self.body(type: "apus.push.\(word)", at: Self.time(of: message), data: message.body)
    }

    private init(identifier: String, body: [UInt8]) {
        self.identifier = identifier
        self.body = body
    }

    /// An outcome that was made up, to try an endpoint.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - identifier: the identifier of the outcome.
    ///   - now: the time.
    /// - Returns: the body; its event has the source `/apus/webhooks/test`.
    public static func sample(app: String, identifier: String, at now: WallTime) -> WebhookPayload {
        var json = JSONWriter()
        json.beginObject()
        json.key("outcome")
        json.string("accepted")
        json.key("app")
        json.string(app)
        json.key("event")
        json.beginObject()
        for (key, text) in [("source", "/apus/webhooks/test"), ("id", "test"), ("type", "push.requested")] {
            json.key(dynamic: key)
            json.string(text)
        }
        for key in ["publishedAtMs", "firstSeenAtMs"] {
            json.key(dynamic: key)
            json.integer(now.milliseconds)
        }
        json.endObject()
        json.key("attempt")
        json.integer(1)
        json.key("pushes")
        json.beginArray()
        json.beginObject()
        json.key("deviceId")
        json.string("sample-device")
        json.key("platform")
        json.string("APNS")
        json.key("pushId")
        json.string("00000000-0000-4000-8000-000000000000")
        json.key("sends")
        json.integer(1)
        json.key("endedAtMs")
        json.integer(now.milliseconds)
        json.endObject()
        json.endArray()
        json.endObject()
        let body = body(type: "apus.push.accepted", at: now, data: json.bytes)
        return WebhookPayload(identifier: identifier, body: body)
    }

    /// When the worker wrote the message.
    private static func time(of message: Message) -> WallTime {
        if case .string(let text)? = message.header(OutcomeMessage.attributePrefix + "time"),
            let milliseconds = WallTime.milliseconds(text)
        {
            return WallTime(milliseconds: milliseconds)
        }
        return WallTime(seconds: message.properties.timestampSeconds ?? 0)
    }

    private static func body(type: String, at time: WallTime, data: [UInt8]) -> [UInt8] {
        var json = JSONWriter(capacityBytes: data.count + 128)
        json.beginObject()
        json.key("type")
        json.string(type)
        json.key("timestamp")
        json.string(WallTime.text(milliseconds: time.milliseconds))
        json.key("data")
        json.raw(data)
        json.endObject()
        return json.bytes
    }
}
