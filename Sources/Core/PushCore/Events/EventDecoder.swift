import Essentials
internal import JSON
public import Notifications

/// Understands what backends publish: turns a message of the broker into a change event, or says why it is none.
///
/// Three encodings are accepted, told apart in this order:
///
/// 1. *Structured CloudEvents* (the one to recommend): the content type begins with `application/cloudevents+json`, in
///    any case and with any parameters; the body is the whole event. `data_base64` may stand for `data`. Also a body
///    that is an object with `specversion`, `type` and `id` and whose content type is absent or JSON.
/// 2. *Binary CloudEvents*: there are headers such as `ce-type`, with the prefix `ce-`, `ce_`, `cloudEvents_` or
///    `cloudEvents:` and names in any case; the body is the data.
/// 3. *Plain JSON*: the properties `message_id`, `type` and `app_id` are the event's `id`, `type` and `source`; the
///    body is the data.
///
/// Unknown attributes are extensions of CloudEvents and ignored; unknown members of the data are refused
/// (`MemberNames`). When the change happened is the attribute `time` (RFC 3339; refused if it is
/// anything else), else the header `x-timestamp-ms`, else the property `timestamp`; the last two are hints that are
/// ignored where they make no sense. The property `expiration` is ignored as well if it is not a number of
/// milliseconds, which RabbitMQ does not let pass anyway.
///
/// A decoder reuses its buffers, and belongs to the thread that uses it. Sources: CloudEvents 1.0.2, "JSON Event
/// Format" and "AMQP Protocol Binding" (whose prefixes RabbitMQ hands on as headers); the prefix `ce-` is Knative's.
public final class EventDecoder {
    let parser = JSONParser(
        depthMaximum: EventLimits.depthMaximum, bytesMaximum: EventLimits.bodyBytesMaximum, roundsNumbers: true)

    /// Creates a decoder.
    public init() {}

    /// Decodes a message.
    ///
    /// - Parameter message: what the broker delivered.
    /// - Returns: the event.
    /// - Throws: `EventRejection`, with the reason and a message that a publisher can act on.
    public func decode(_ message: Message) throws(EventRejection) -> ChangeEvent {
        guard message.body.count <= EventLimits.bodyBytesMaximum else {
            throw EventRejection(
                .bodyTooLarge,
                "the body has \(message.body.count) bytes; at most \(EventLimits.bodyBytesMaximum) are accepted")
        }
        // Buffers for a large event are many times its size, and the next one may be long in coming.
        defer { if message.body.count > JSONParser.retainedBytes { parser.relinquish() } }
        try checkContentEncoding(of: message)
        let envelope = try readEnvelope(of: message)
        // A field of a record counts as the nearest number; what is passed on to a device must not change on its way.
        if let fault = parser.roundedNumber, !envelope.type.isOfRecord {
            throw EventRejection(.invalidJSON, "the event has a number that cannot be passed on: \(fault)")
        }
        return ChangeEvent(
            identifier: envelope.identifier,
            source: envelope.source,
            time: envelope.time ?? message.timestamp,
            timeToLiveMilliseconds: message.timeToLiveMilliseconds,
            kind: try readKind(envelope.type, FieldReader(envelope.data, path: "data")))
    }

    private func checkContentEncoding(of message: Message) throws(EventRejection) {
        guard let encoding = message.properties.contentEncoding, !encoding.isEmpty else { return }
        let accepted: [StaticString] = ["identity", "utf-8", "utf8"]
        let isAccepted = encoding.readingUTF8 { bytes in
            accepted.contains { name in bytes.isEqual(ignoringCase: name) }
        }
        guard isAccepted else {
            throw EventRejection(
                .unknownEncoding,
                "the content encoding is \(encoding.excerpt); publish uncompressed, with identity or none at all")
        }
    }

    private func readEnvelope(of message: Message) throws(EventRejection) -> EventEnvelope {
        let contentType = ContentType(message.properties.contentType)
        if contentType == .cloudEvent { return try readStructured(try parse(message.body, called: "the body")) }
        guard contentType != .other else {
            throw EventRejection(
                .unknownEncoding,
                "the content type is \((message.properties.contentType ?? "").excerpt); it must be"
                    + " application/cloudevents+json or application/json, for one event in JSON")
        }
        if let attributes = HeaderAttributes(message.headers) {
            return try readBinary(attributes, message.body)
        }
        let body = try parse(message.body, called: "the body")
        if body["specversion"] != nil, body["type"] != nil, body["id"] != nil { return try readStructured(body) }
        return try readPlain(message.properties, body)
    }

    /// Parses a document, which messages call by the given name.
    func parse(_ bytes: [UInt8], called name: String) throws(EventRejection) -> JSONValue {
        do throws(JSONError) {
            return try parser.parse(bytes)
        } catch {
            switch error.code {
            case .invalidUTF8: throw EventRejection(.invalidUTF8, "\(name) is not UTF-8: \(error)")
            case .tooDeep: throw EventRejection(.tooDeep, "\(name) is nested too deeply: \(error)")
            case .tooLarge: throw EventRejection(.bodyTooLarge, "\(name) is too large: \(error)")
            case .empty: throw EventRejection(.invalidJSON, "\(name) is empty; it must be a JSON object")
            case .invalidSyntax, .numberOutOfRange:
                throw EventRejection(.invalidJSON, "\(name) is not valid JSON: \(error)")
            }
        }
    }

    private func readKind(_ type: EventType, _ data: FieldReader) throws(EventRejection) -> ChangeEvent.Kind {
        switch type {
        case .datasetChanged: return .dataset(try DatasetChange(changed: data))
        case .datasetDeleted: return .dataset(try DatasetChange(deleted: data))
        case .datasetsMerged: return .dataset(try DatasetChange(merged: data))
        case .pushRequested: return .push(try RequestedPush(data))
        case .recordCreated: return .record(try RecordChange(.created, data))
        case .recordUpdated: return .record(try RecordChange(.updated, data))
        case .recordDeleted: return .record(try RecordChange(.deleted, data))
        }
    }
}
