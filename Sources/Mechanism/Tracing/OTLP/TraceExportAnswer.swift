internal import Essentials

/// The answer of a collector to an export.
///
/// Sources: `trace_service.proto` of opentelemetry-proto, and "OTLP/HTTP Response" of its specification.
public enum TraceExportAnswer: Hashable, Sendable {
    /// The collector took the spans, but for some, with its reason; the reason alone is a warning.
    case taken(rejectedSpanCount: Int, reason: String)
    /// It may take them later.
    case retryable(reason: String)
    /// It never takes them.
    case refused(reason: String)

    /// The statuses after which the same spans may be sent again.
    private static let retryableStatuses: Set<Int> = [429, 502, 503, 504]
    private static let reasonBytesMaximum = 200

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: the body, in the wire format of Protocol Buffers. A success counts even if it cannot be read.
    public init(status: Int, body: [UInt8]) {
        guard (200...299).contains(status) else {
            let text = Self.text(of: 2, in: body[...])
            let reason = "the collector answered \(status)" + (text.isEmpty ? "" : " (\(text))")
            self = Self.retryableStatuses.contains(status) ? .retryable(reason: reason) : .refused(reason: reason)
            return
        }
        var rejected: UInt64 = 0
        let partialSuccess = Self.bytes(of: 1, in: body[...]) ?? []
        let isWellFormed = ProtobufReader.read(partialSuccess) { field, value in
            if field == 1, case .varint(let count) = value { rejected = count }
        }
        // A negative number counts as none.
        let count = isWellFormed ? max(0, Int64(bitPattern: rejected)) : 0
        self = .taken(rejectedSpanCount: Int(clamping: count), reason: Self.text(of: 2, in: partialSuccess))
    }

    /// The text of a field, printable; empty if there is none, or if the message is malformed.
    private static func text(of wanted: UInt64, in message: ArraySlice<UInt8>) -> String {
        guard let bytes = bytes(of: wanted, in: message) else { return "" }
        let text = String(decoding: bytes.prefix(4 * reasonBytesMaximum), as: UTF8.self)
        return text.shortened(bytesMaximum: reasonBytesMaximum).printable()
    }

    /// The last field of that number; nil if there is none, or if the message is malformed.
    private static func bytes(of wanted: UInt64, in message: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        let isWellFormed = ProtobufReader.read(message) { field, value in
            if field == wanted, case .bytes(let bytes) = value { found = bytes }
        }
        return isWellFormed ? found : nil
    }
}
