import Crypto
import Essentials
import EventLoop
import JSON

/// Writes a record as one line of JSON; `token`, `status`, `reason`, `duplicate` and `payload` are as in those of APNs.
///
/// `token` is the name of the subscription. `payload` is the plaintext if that is JSON, else null, and then
/// `payload_base64url` has it. `hash` is the beginning of its SHA-256, in hexadecimal digits.
enum RecordLine {
    private static let hashBytes = 16

    /// Appends the line of a record.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - parser: finds out whether a plaintext is JSON.
    ///   - bytes: where the line goes, its line feed included.
    static func append(_ record: RecordedWebPush, parser: JSONParser, to bytes: inout [UInt8]) {
        var writer = JSONWriter(capacityBytes: 512 + (record.plaintext?.count ?? 0))
        writer.beginObject()
        writer.member("time_ms", record.timeMilliseconds)
        writer.member("time_us", WallClock.nowMicroseconds())
        writer.member("kind", record.kind.rawValue)
        writer.member("origin", record.origin)
        writer.member("token", record.subscription)
        append("message", record.messageID, to: &writer)
        writer.member("status", record.status)
        append("reason", record.reason, to: &writer)
        append("fate", record.fate?.rawValue, to: &writer)
        writer.member("duplicate", record.isDuplicate)
        writer.member("delayed", record.isDelayed)
        writer.member("reused", record.isReused)
        writer.key("ttl")
        if let ttl = record.ttlSeconds { writer.integer(ttl) } else { writer.null() }
        append("urgency", record.urgency, to: &writer)
        append("topic", record.topic, to: &writer)
        append("event", record.event, to: &writer)
        appendPlaintext(record.plaintext, parser, to: &writer)
        writer.endObject()
        bytes += writer.bytes
        bytes.append(0x0A)
    }

    private static func append(_ name: StaticString, _ text: String?, to writer: inout JSONWriter) {
        writer.key(name)
        if let text { writer.string(text) } else { writer.null() }
    }

    private static func appendPlaintext(_ plaintext: [UInt8]?, _ parser: JSONParser, to writer: inout JSONWriter) {
        append("hash", plaintext.map(hash), to: &writer)
        writer.key("payload")
        guard let plaintext else { return writer.null() }
        if let value = try? parser.parse(plaintext) { return writer.value(value) }
        writer.null()
        writer.member("payload_base64url", Base64URL.encode(plaintext))
    }

    private static func hash(_ plaintext: [UInt8]) -> String {
        HexadecimalDigits.text(Array(SHA256Digest.digest(plaintext).prefix(hashBytes)))
    }
}
