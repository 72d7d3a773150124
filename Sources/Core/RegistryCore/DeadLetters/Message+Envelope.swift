import Essentials
internal import JSON
public import Messages

/// Properties and headers of a message as one JSON document, from which they are read back exactly.
///
///     {"properties": {"messageId": "5f1c2c1e"}, "headers": [["apus-attempt", {"int64": "10"}]]}
///
/// Each value of a header has its type, and numbers are texts, so that JSON loses nothing of AMQP.
extension Message {
    /// How deeply the document of a message may be nested: a value of a header takes two levels.
    private static let envelopeDepthMaximum = 256

    /// Properties and headers as a JSON document.
    public var envelope: [UInt8] {
        JSONWriter.object { writer in
            writer.object("properties") { writer in
                for (name, value) in properties.texts { writer.member(dynamic: name, value) }
            }
            writer.key("headers")
            headers.write(to: &writer)
        }
    }

    /// Puts a message together; nil if the document is none that `envelope` makes.
    public init?(envelope: [UInt8], body: [UInt8]) {
        let parser = JSONParser(depthMaximum: Self.envelopeDepthMaximum)
        guard let document = try? parser.parse(envelope), let object = document["properties"]?.object,
            let list = document["headers"], let headers = [MessageHeader](list)
        else { return nil }
        var texts: [String: String] = [:]
        for member in object { texts[member.key] = member.value.string }
        self.init(properties: MessageProperties(texts: texts), headers: headers, body: body)
    }
}

extension MessageProperties {
    /// The properties that are set, by their names in JSON.
    public var texts: [(name: String, value: String)] {
        let values: [(String, String?)] = [
            ("messageId", messageID), ("contentType", contentType), ("contentEncoding", contentEncoding),
            ("type", type), ("appId", appID), ("correlationId", correlationID), ("replyTo", replyTo),
            ("expiration", expiration), ("userId", userID), ("timestamp", timestampSeconds.map { String($0) }),
            ("priority", priority.map { String($0) }), ("deliveryMode", deliveryMode.map { String($0) }),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    fileprivate init(texts: [String: String]) {
        self.init()
        messageID = texts["messageId"]
        contentType = texts["contentType"]
        contentEncoding = texts["contentEncoding"]
        type = texts["type"]
        appID = texts["appId"]
        correlationID = texts["correlationId"]
        replyTo = texts["replyTo"]
        expiration = texts["expiration"]
        userID = texts["userId"]
        timestampSeconds = texts["timestamp"].flatMap { UInt64($0) }
        priority = texts["priority"].flatMap { UInt8($0) }
        deliveryMode = texts["deliveryMode"].flatMap { UInt8($0) }
    }
}

extension [MessageHeader] {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for header in self {
            writer.beginArray()
            writer.string(header.name)
            header.value.write(to: &writer)
            writer.endArray()
        }
        writer.endArray()
    }

    fileprivate init?(_ list: JSONValue) {
        guard let list = list.array else { return nil }
        self = []
        for item in list {
            guard let pair = item.array.map({ values in values.map { $0 } }), pair.count == 2,
                let name = pair[0].string,
                let value = HeaderValue(pair[1])
            else { return nil }
            append(MessageHeader(name, value))
        }
    }
}

extension HeaderValue {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .array(let values):
            writer.array("array") { writer in for value in values { value.write(to: &writer) } }
        case .table(let headers):
            writer.key("table")
            headers.write(to: &writer)
        default:
            let (type, text) = scalar
            writer.member(dynamic: type, text)
        }
        writer.endObject()
    }

    private var scalar: (type: String, text: String) {
        switch self {
        case .boolean(let value): ("boolean", "\(value)")
        case .int8(let value): ("int8", "\(value)")
        case .uint8(let value): ("uint8", "\(value)")
        case .int16(let value): ("int16", "\(value)")
        case .uint16(let value): ("uint16", "\(value)")
        case .int32(let value): ("int32", "\(value)")
        case .uint32(let value): ("uint32", "\(value)")
        case .int64(let value): ("int64", "\(value)")
        case .uint64(let value): ("uint64", "\(value)")
        case .float32(let value): ("float32", "\(value.bitPattern)")
        case .float64(let value): ("float64", "\(value.bitPattern)")
        case .decimal(let scale, let value): ("decimal", "\(scale) \(value)")
        case .timestamp(let value): ("timestamp", "\(value)")
        case .string(let text): ("string", text)
        case .rawString(let bytes): ("rawString", HexadecimalDigits.text(bytes))
        case .bytes(let bytes): ("bytes", HexadecimalDigits.text(bytes))
        case .void, .array, .table: ("void", "")
        }
    }

    fileprivate init?(_ json: JSONValue) {
        guard let member = json.object?.first(where: { _ in true }) else { return nil }
        switch member.key {
        case "array":
            guard let list = member.value.array else { return nil }
            var values: [HeaderValue] = []
            for item in list {
                guard let value = HeaderValue(item) else { return nil }
                values.append(value)
            }
            self = .array(values)
        case "table":
            guard let headers = [MessageHeader](member.value) else { return nil }
            self = .table(headers)
        default:
            guard let text = member.value.string, let value = Self.scalar(member.key, text) else { return nil }
            self = value
        }
    }

    private static func scalar(_ type: String, _ text: String) -> HeaderValue? {
        switch type {
        case "boolean": text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
        case "int8": Int8(text).map { .int8($0) }
        case "uint8": UInt8(text).map { .uint8($0) }
        case "int16": Int16(text).map { .int16($0) }
        case "uint16": UInt16(text).map { .uint16($0) }
        case "int32": Int32(text).map { .int32($0) }
        case "uint32": UInt32(text).map { .uint32($0) }
        case "int64": Int64(text).map { .int64($0) }
        case "uint64": UInt64(text).map { .uint64($0) }
        case "float32": UInt32(text).map { .float32(Float(bitPattern: $0)) }
        case "float64": UInt64(text).map { .float64(Double(bitPattern: $0)) }
        case "decimal": decimal(text)
        case "timestamp": UInt64(text).map { .timestamp($0) }
        case "string": .string(text)
        case "rawString": HexadecimalDigits.bytes(text).map { .rawString($0) }
        case "bytes": HexadecimalDigits.bytes(text).map { .bytes($0) }
        case "void": .void
        default: nil
        }
    }

    private static func decimal(_ text: String) -> HeaderValue? {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let scale = UInt8(parts[0]), let value = UInt32(parts[1]) else { return nil }
        return .decimal(scale: scale, value: value)
    }
}
