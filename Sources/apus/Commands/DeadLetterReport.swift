import ChangeQueue
import JSON
import PushCore

/// Writes dead letters, for people and for programs.
enum DeadLetterReport {
    /// One line for a listing.
    static func line(_ letter: DeadLetter) -> String {
        var text = "\(letter.position)  \(letter.reason)  \(letter.messageID ?? "-")  \(letter.bodySizeBytes) bytes"
        if let attempts = letter.attempts { text += "  attempts \(attempts)" }
        if let detail = letter.detail { text += "\n    \(detail)" }
        return text
    }

    /// One letter, whole, for people.
    static func text(_ letter: DeadLetter) -> String {
        var lines = ["position: \(letter.position)", "reason: \(letter.reason)"]
        if let detail = letter.detail { lines.append("detail: \(detail)") }
        for (name, value) in properties(letter.message.properties) { lines.append("\(name): \(value)") }
        lines.append("headers:")
        for header in letter.message.headers {
            var writer = JSONWriter()
            write(header.value, to: &writer)
            lines.append("    \(header.name): \(String(decoding: writer.bytes, as: UTF8.self))")
        }
        lines.append("body (\(letter.bodySizeBytes) bytes):")
        lines.append(String(decoding: letter.message.body, as: UTF8.self))
        return lines.joined(separator: "\n")
    }

    /// One letter as one line of JSON.
    static func json(_ letter: DeadLetter, withBody: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("position")
        writer.integer(letter.position)
        writer.key("reason")
        writer.string(letter.reason)
        if let detail = letter.detail {
            writer.key("detail")
            writer.string(detail)
        }
        writer.key("properties")
        writer.beginObject()
        for (name, value) in properties(letter.message.properties) {
            writer.key(dynamic: name)
            writer.string(value)
        }
        writer.endObject()
        writer.key("headers")
        write(.table(letter.message.headers), to: &writer)
        writer.key("bodySizeBytes")
        writer.integer(letter.bodySizeBytes)
        if withBody {
            // A body that is not text has to survive too.
            if let text = String(validating: letter.message.body, as: UTF8.self) {
                writer.key("body")
                writer.string(text)
            } else {
                writer.key("bodyHexadecimal")
                writer.string(hexadecimal(letter.message.body))
            }
        }
        writer.endObject()
        return writer.bytes
    }

    private static func properties(_ properties: MessageProperties) -> [(String, String)] {
        let values: [(String, String?)] = [
            ("messageId", properties.messageID), ("contentType", properties.contentType),
            ("contentEncoding", properties.contentEncoding), ("type", properties.type),
            ("appId", properties.appID), ("correlationId", properties.correlationID),
            ("replyTo", properties.replyTo), ("expiration", properties.expiration),
            ("userId", properties.userID), ("timestamp", properties.timestampSeconds.map { String($0) }),
            ("priority", properties.priority.map { String($0) }),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func write(_ value: HeaderValue, to writer: inout JSONWriter) {
        switch value {
        case .boolean(let value): writer.boolean(value)
        case .int8(let value): writer.integer(value)
        case .uint8(let value): writer.integer(value)
        case .int16(let value): writer.integer(value)
        case .uint16(let value): writer.integer(value)
        case .int32(let value): writer.integer(value)
        case .uint32(let value): writer.integer(value)
        case .int64(let value): writer.integer(value)
        case .uint64(let value), .timestamp(let value): writer.integer(value)
        case .float32(let value): writer.double(Double(value))
        case .float64(let value): writer.double(value)
        case .decimal(let scale, let value): writer.string("\(value)e-\(scale)")
        case .string(let text): writer.string(text)
        case .rawString(let bytes), .bytes(let bytes): writer.string(hexadecimal(bytes))
        case .array(let values):
            writer.beginArray()
            for value in values { write(value, to: &writer) }
            writer.endArray()
        case .table(let headers):
            writer.beginObject()
            for header in headers {
                writer.key(dynamic: header.name)
                write(header.value, to: &writer)
            }
            writer.endObject()
        case .void: writer.null()
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
