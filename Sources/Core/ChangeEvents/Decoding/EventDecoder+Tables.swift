import Essentials
internal import JSON
import Messages
import Notifications
import Tracing

/// Messages that are no events of Apus' own, but of databases: JSON without a type around it.
extension EventDecoder {
    /// Whether a body tells of the change of a row: an envelope of Debezium's, or what a webhook of Supabase sends.
    ///
    /// - Parameter body: the body.
    /// - Returns: whether `decode` reads it as such, by a `TableSource`.
    public static func isTableChange(_ body: [UInt8]) -> Bool {
        // Most bodies have none of these, and are not parsed.
        guard ["record\"", "\"source\""].contains(where: { body.contains($0.utf8) }),
            let document = try? JSONParser(
                depthMaximum: EventLimits.depthMaximum, bytesMaximum: EventLimits.bodyBytesMaximum, roundsNumbers: true
            ).parse(body)
        else { return false }
        if DebeziumEnvelope(document) != nil { return true }
        do throws(EventRejection) { return try DatabaseWebhook(document) != nil } catch { return true }
    }

    /// Reads the change of a row; nil if the body tells of none.
    ///
    /// - Throws: `EventRejection`: `.skipped` if nothing is to be told.
    func tableChange(_ body: JSONValue, _ message: Message) throws(EventRejection) -> ChangeEvent? {
        if let envelope = DebeziumEnvelope(body) {
            let record = try envelope.change().record(of: sources)
            let source = envelope.eventSource
            guard TextRule.source.isFollowed(by: source) else {
                throw FieldReader.invalid(
                    "source of the envelope", found: "names of \(source.utf8.count) bytes together",
                    TextRule.source.length)
            }
            return ChangeEvent(
                identifier: envelope.eventIdentifier(of: record.recordName), source: source,
                time: envelope.time ?? message.timestamp, timeToLiveMilliseconds: message.timeToLiveMilliseconds,
                trace: TraceContext(headers: message.headers), kind: .record(record))
        }
        if let webhook = try DatabaseWebhook(body) {
            return ChangeEvent(
                identifier: try Self.identifier(message.properties), source: message.properties.appID ?? "",
                time: message.timestamp, timeToLiveMilliseconds: message.timeToLiveMilliseconds,
                trace: TraceContext(headers: message.headers), kind: .record(try webhook.change.record(of: sources)))
        }
        if !sources.isEmpty, let notice = DebeziumEnvelope.notice(body) { throw EventRejection(.skipped, notice) }
        return nil
    }

    // MARK: The outbox router

    /// Where the outbox router's events come from; their identifiers are those of the outbox's rows.
    private static let outboxSource = "/debezium/outbox"

    /// Reads what Debezium's outbox router publishes: the header `id`, the header `type` or `eventType`, and the data
    /// of the event, as JSON or as a text of JSON.
    ///
    /// - Throws: `EventRejection`; a message without those headers is no event at all.
    func readOutbox(_ message: Message) throws(EventRejection) -> EventEnvelope {
        let missing =
            "the message is no CloudEvent and its property type is missing; it must be \(EventEnvelope.typeExpected)"
        guard let identifier = headerText("id", of: message) else { throw EventRejection(.missingField, missing) }
        // As `table.fields.additional.placement` names the header with the outbox's column `type`.
        guard let type = headerText("type", of: message) ?? headerText("eventType", of: message) else {
            throw EventRejection(
                .missingField,
                "\(missing); Debezium's outbox router needs table.fields.additional.placement = type:header:type")
        }
        guard let knownType = type.readingUTF8(EventType.init(utf8:)) else {
            throw EventEnvelope.unknownType(type, at: "the header type")
        }
        guard TextRule.eventIdentifier.isFollowed(by: identifier), identifier.readingUTF8(AttributeText.isValid) else {
            throw FieldReader.invalid(
                "the header id", found: identifier.excerpt, TextRule.eventIdentifier.expected)
        }
        var data = DebeziumEnvelope.unwrapped(try parse(message.body, called: "the body")).payload
        if let text = data.withUTF8({ Array($0) }) { data = try parse(text, called: "the payload of the outbox") }
        return EventEnvelope(
            identifier: identifier, source: Self.outboxSource, type: knownType, time: nil, trace: nil, data: data)
    }

    /// The text of a header, which Debezium Server writes as JSON, perhaps with its schema; nil if there is none.
    ///
    /// It parses, so values of the body are void afterwards.
    private func headerText(_ name: String, of message: Message) -> String? {
        let text: String
        switch message.header(name) {
        case .string(let value): text = value
        case .bytes(let bytes): text = String(decoding: bytes, as: UTF8.self)
        default: return nil
        }
        guard let first = text.utf8.first else { return nil }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "\"") else { return text }
        return (try? parser.parse(text)).flatMap { DebeziumEnvelope.unwrapped($0).payload.string }
    }
}
