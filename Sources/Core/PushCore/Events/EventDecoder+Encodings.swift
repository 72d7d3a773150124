import Essentials
internal import JSON
import Notifications

// The three encodings of an event.
extension EventDecoder {
    /// Reads a whole CloudEvent from the body.
    func readStructured(_ body: JSONValue) throws(EventRejection) -> EventEnvelope {
        guard let object = body.object else { throw FieldReader.invalid("the body", body, "an object: one CloudEvent") }
        let attributes = FieldReader(object, path: "event")
        try checkVersion(attributes)
        return EventEnvelope(
            identifier: try attributes.requiredText("id", .eventIdentifier),
            source: try attributes.requiredText("source", .source),
            type: try readType(attributes),
            time: try readTime(attributes),
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
            data: try parse(body, called: "the body"))
    }

    /// Reads the attributes from AMQP's own properties and takes the body for the data.
    func readPlain(_ properties: MessageProperties, _ body: JSONValue) throws(EventRejection) -> EventEnvelope {
        guard let type = properties.type, !type.isEmpty else {
            throw EventRejection(
                .missingField,
                "the message is no CloudEvent and its property type is missing; it must be"
                    + " \(EventEnvelope.typeExpected)")
        }
        guard let knownType = type.readingUTF8(EventType.init(utf8:)) else {
            throw EventEnvelope.unknownType(type, at: "the property type")
        }
        let identifierRule = TextRule.eventIdentifier
        guard let identifier = properties.messageID, !identifier.isEmpty else {
            throw EventRejection(
                .missingField, "the property message_id is missing; it must be \(identifierRule.expected)")
        }
        guard identifier.readingUTF8(identifierRule.isFollowed) else {
            throw FieldReader.invalid(
                "the property message_id", found: "a text of \(identifier.utf8.count) bytes", identifierRule.length)
        }
        return EventEnvelope(
            identifier: identifier, source: properties.appID ?? "", type: knownType, time: nil, data: body)
    }
}
