import Essentials
internal import JSON
public import Messages
public import Notifications
import Tracing

/// Understands what backends publish: turns a message of the broker into a change event, or says why it is none.
///
/// These encodings are accepted, told apart in this order:
///
/// 1. *Structured CloudEvents* (the one to recommend): the content type begins with `application/cloudevents+json`, in
///    any case and with any parameters; the body is the whole event. `data_base64` may stand for `data`. Also a body
///    that is an object with `specversion`, `type` and `id` and whose content type is absent or JSON.
/// 2. *Binary CloudEvents*: there are headers such as `ce-type`, with the prefix `ce-`, `ce_`, `cloudEvents_` or
///    `cloudEvents:` and names in any case; the body is the data.
/// 3. *Plain JSON*: the properties `message_id`, `type` and `app_id` are the event's `id`, `type` and `source`; the
///    body is the data.
/// 4. *Changes of tables* without that property `type`: Debezium's envelope and its outbox router, and the webhook of a
///    Supabase database. A `TableSource` says which record a row is.
///
/// `traceparent` and `tracestate` name the event's trace (`ChangeEvent.trace`).
/// Other unknown attributes are extensions of CloudEvents and ignored; unknown members of the data are refused
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

    /// The tables whose changed rows are events.
    let sources: TableSources

    /// Creates a decoder.
    ///
    /// - Parameter sources: the tables whose changed rows are events.
    public init(sources: TableSources = TableSources()) { self.sources = sources }

    /// Decodes a message.
    ///
    /// - Parameter message: the broker's message.
    /// - Returns: the event.
    /// - Throws: `EventRejection`, with the reason and a message that a publisher can act on. The reason is `.skipped`
    ///   if the message needs no action.
    public func decode(_ message: Message) throws(EventRejection) -> ChangeEvent {
        guard message.body.count <= EventLimits.bodyBytesMaximum else {
            throw EventRejection(
                .bodyTooLarge,
                "the body has \(message.body.count) bytes; at most \(EventLimits.bodyBytesMaximum) are accepted")
        }
        // Buffers for a large event are many times its size, and the next one may be long in coming.
        defer { if message.body.count > JSONParser.retainedBytes { parser.relinquish() } }
        try checkContentEncoding(of: message)
        let envelope: EventEnvelope
        switch try readEnvelope(of: message) {
        case .envelope(let found): envelope = found
        case .untyped(let body):
            if let event = try tableChange(body, message) { return event }
            envelope = try readOutbox(message)
        }
        // A field of a record counts as the nearest number, but values for a device must not change on their way.
        if let fault = parser.roundedNumber, !envelope.type.isOfRecord {
            throw EventRejection(.invalidJSON, "the event has a number that cannot be passed on: \(fault)")
        }
        return ChangeEvent(
            identifier: envelope.identifier,
            source: envelope.source,
            time: envelope.time ?? message.timestamp,
            timeToLiveMilliseconds: message.timeToLiveMilliseconds,
            trace: envelope.trace ?? TraceContext(headers: message.headers),
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

    /// The envelope of a message.
    private enum Reading {
        /// A CloudEvent, or plain JSON with the properties of one.
        case envelope(EventEnvelope)
        /// JSON without a type.
        case untyped(JSONValue)
    }

    private func readEnvelope(of message: Message) throws(EventRejection) -> Reading {
        let contentType = ContentType(message.properties.contentType)
        if contentType == .cloudEvent {
            return .envelope(try readStructured(try parse(message.body, called: "the body"), message))
        }
        guard contentType != .other else {
            throw EventRejection(
                .unknownEncoding,
                "the content type is \((message.properties.contentType ?? "").excerpt); it must be"
                    + " application/cloudevents+json or application/json, for one event in JSON")
        }
        if let attributes = HeaderAttributes(message.headers) {
            return .envelope(try readBinary(attributes, message.body))
        }
        let body: JSONValue
        do throws(EventRejection) {
            body = try parse(message.body, called: "the body")
        } catch {
            guard !sources.isEmpty, DebeziumEnvelope.isTombstone(message.body) else { throw error }
            throw EventRejection(.skipped, "a tombstone")
        }
        if body["specversion"] != nil, body["type"] != nil, body["id"] != nil {
            return .envelope(try readStructured(body, message))
        }
        guard let type = message.properties.type, !type.isEmpty else { return .untyped(body) }
        return .envelope(try readPlain(type, message.properties, body))
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
            case .repeatedKey: throw EventRejection(.invalidJSON, "\(name) is ambiguous: \(error)")
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

// The three encodings of an event.
extension EventDecoder {
    /// Reads a whole CloudEvent from the body.
    func readStructured(_ body: JSONValue, _ message: Message) throws(EventRejection) -> EventEnvelope {
        guard let object = body.object else { throw FieldReader.invalid("the body", body, "an object: one CloudEvent") }
        let attributes = FieldReader(object, path: "event")
        try checkVersion(attributes)
        if !AttributeText.isPlain(message.body) { try AttributeText.check(object) }
        return EventEnvelope(
            identifier: try attributes.requiredText("id", .eventIdentifier),
            source: try attributes.requiredText("source", .source),
            type: try readType(attributes),
            time: try readTime(attributes),
            trace: TraceContext(attributes: object),
            // The last of all: data in base64 is a document of its own, which ends the life of this one.
            data: try readData(attributes))
    }

    private func checkVersion(_ attributes: FieldReader) throws(EventRejection) {
        let value = try attributes.requiredValue("specversion", EventEnvelope.versionExpected)
        guard let isVersionOne = value.withUTF8(EventEnvelope.isVersionOne) else {
            throw attributes.invalid("specversion", value, EventEnvelope.versionExpected)
        }
        guard isVersionOne else {
            throw EventEnvelope.unknownVersion(value.string ?? "", at: attributes.path("specversion"))
        }
    }

    private func readType(_ attributes: FieldReader) throws(EventRejection) -> EventType {
        let value = try attributes.requiredValue("type", EventEnvelope.typeExpected)
        guard let type = value.withUTF8(EventType.init(utf8:)) else {
            throw attributes.invalid("type", value, EventEnvelope.typeExpected)
        }
        guard let type else { throw EventEnvelope.unknownType(value.string ?? "", at: attributes.path("type")) }
        return type
    }

    private func readTime(_ attributes: FieldReader) throws(EventRejection) -> WallTime? {
        guard let value = attributes.value("time") else { return nil }
        guard let time = value.withUTF8(RFC3339.milliseconds) ?? nil else {
            throw attributes.invalid("time", value, EventEnvelope.timeExpected)
        }
        return WallTime(milliseconds: time)
    }

    private func readData(_ attributes: FieldReader) throws(EventRejection) -> JSONValue {
        let data = attributes.value("data")
        guard let encoded = attributes.value("data_base64") else {
            guard let data else { throw EventRejection(.missingField, "data is missing; it must be an object") }
            return data
        }
        guard data == nil else {
            throw EventRejection(.invalidField, "data and data_base64 are both there; there must be one of them")
        }
        guard let bytes = encoded.withUTF8(Base64.decode) ?? nil else {
            throw attributes.invalid("data_base64", encoded, "a JSON object in base64")
        }
        return try parse(bytes, called: "data_base64")
    }

    /// Reads the attributes from the headers and takes the body for the data.
    func readBinary(_ attributes: HeaderAttributes, _ body: [UInt8]) throws(EventRejection) -> EventEnvelope {
        if let (name, text) = attributes.invalidText {
            throw AttributeText.invalid("the header \(name.excerpt)", text)
        }
        let version = try attributes.requiredText(attributes.version, "specversion", EventEnvelope.versionExpected)
        guard version.readingUTF8(EventEnvelope.isVersionOne) else {
            throw EventEnvelope.unknownVersion(version, at: "the header ce-specversion")
        }
        let type = try attributes.requiredText(attributes.type, "type", EventEnvelope.typeExpected)
        guard let knownType = type.readingUTF8(EventType.init(utf8:)) else {
            throw EventEnvelope.unknownType(type, at: "the header ce-type")
        }
        return EventEnvelope(
            identifier: try attributes.requiredText(attributes.identifier, "id", .eventIdentifier),
            source: try attributes.requiredText(attributes.source, "source", .source),
            type: knownType,
            time: try attributes.timestamp,
            trace: attributes.trace,
            data: try parse(body, called: "the body"))
    }

    /// Reads the attributes from AMQP's own properties and takes the body for the data.
    func readPlain(
        _ type: String, _ properties: MessageProperties, _ body: JSONValue
    ) throws(EventRejection) -> EventEnvelope {
        guard let knownType = type.readingUTF8(EventType.init(utf8:)) else {
            throw EventEnvelope.unknownType(type, at: "the property type")
        }
        let identifier = try Self.identifier(properties)
        for (name, text) in [("type", type), ("app_id", properties.appID ?? "")] {
            guard text.readingUTF8(AttributeText.isValid) else {
                throw AttributeText.invalid("the property \(name)", text)
            }
        }
        return EventEnvelope(
            identifier: identifier, source: properties.appID ?? "", type: knownType, time: nil, trace: nil, data: body)
    }

    /// The event's `id`, by AMQP's own property.
    static func identifier(_ properties: MessageProperties) throws(EventRejection) -> String {
        let rule = TextRule.eventIdentifier
        guard let identifier = properties.messageID, !identifier.isEmpty else {
            throw EventRejection(.missingField, "the property message_id is missing; it must be \(rule.expected)")
        }
        guard identifier.readingUTF8(rule.isFollowed) else {
            throw FieldReader.invalid(
                "the property message_id", found: "a text of \(identifier.utf8.count) bytes", rule.length)
        }
        return identifier
    }
}
