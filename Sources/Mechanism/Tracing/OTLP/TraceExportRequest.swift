internal import Essentials

/// The body of an export: spans of one service, as OTLP sends them (`ExportTraceServiceRequest`).
///
/// Field numbers are those of `trace.proto`, `common.proto` and `resource.proto` of opentelemetry-proto 1.10.
public enum TraceExportRequest {
    /// The service whose spans they are.
    public struct Origin: Hashable, Sendable {
        /// The facts about the service, `service.name` among them.
        public var resource: [SpanAttribute]
        /// The name of what makes the spans.
        public var scopeName: String
        /// The version of what makes the spans.
        public var scopeVersion: String

        /// Describes a service.
        public init(resource: [SpanAttribute], scopeName: String, scopeVersion: String) {
            self.resource = resource
            self.scopeName = scopeName
            self.scopeVersion = scopeVersion
        }
    }

    /// The most attributes of a span; the rest is counted and not sent.
    public static let attributesMaximum = 128
    /// The most links of a span; the rest is counted and not sent.
    public static let linksMaximum = 128
    /// The most bytes of a text; the rest is cut off.
    public static let textBytesMaximum = 1_024

    private static let hasIsRemote: UInt32 = 0x100
    private static let isRemote: UInt32 = 0x200

    /// Encodes spans.
    ///
    /// - Parameters:
    ///   - spans: the spans.
    ///   - origin: the service.
    /// - Returns: the message in Protocol Buffers' wire format.
    public static func encode(_ spans: [Span], from origin: Origin) -> [UInt8] {
        var writer = ProtobufWriter(capacityBytes: 512 * (spans.count + 1))
        writer.message(1) { writer in
            writer.message(1) { writer in
                for attribute in origin.resource { write(attribute, as: 1, to: &writer) }
            }
            writer.message(2) { writer in
                writer.message(1) { writer in
                    writer.string(1, bounded(origin.scopeName))
                    writer.string(2, bounded(origin.scopeVersion))
                }
                for span in spans { writer.message(2) { write(span, to: &$0) } }
            }
        }
        return writer.bytes
    }

    private static func write(_ span: Span, to writer: inout ProtobufWriter) {
        writer.identifier(1, span.context.traceID.high, span.context.traceID.low)
        writer.identifier(2, span.context.spanID.value)
        writer.string(3, span.context.state?.text ?? "")
        if let parent = span.parent { writer.identifier(4, parent.value) }
        writer.string(5, bounded(span.name))
        writer.integer(6, Int64(span.kind.rawValue))
        writer.fixed64(7, span.startNanoseconds)
        writer.fixed64(8, max(span.startNanoseconds, span.endNanoseconds))
        for attribute in span.attributes.prefix(attributesMaximum) { write(attribute, as: 9, to: &writer) }
        writer.integer(10, Int64(max(0, span.attributes.count - attributesMaximum)))
        for link in span.links.prefix(linksMaximum) { writer.message(13) { write(link, to: &$0) } }
        writer.integer(14, Int64(max(0, span.links.count - linksMaximum)))
        write(span.status, to: &writer)
        let remote = hasIsRemote | (span.isParentRemote ? isRemote : 0)
        writer.fixed32(16, UInt32(span.context.flags.rawValue) | remote)
    }

    private static func write(_ link: TraceContext, to writer: inout ProtobufWriter) {
        writer.identifier(1, link.traceID.high, link.traceID.low)
        writer.identifier(2, link.spanID.value)
        writer.string(3, link.state?.text ?? "")
        writer.fixed32(6, UInt32(link.flags.rawValue) | hasIsRemote | isRemote)
    }

    private static func write(_ status: Span.Status, to writer: inout ProtobufWriter) {
        switch status {
        case .unset: break
        case .ok: writer.message(15) { $0.integer(3, 1) }
        case .error(let reason):
            writer.message(15) { writer in
                writer.string(2, bounded(reason))
                writer.integer(3, 2)
            }
        }
    }

    private static func write(_ attribute: SpanAttribute, as field: Int, to writer: inout ProtobufWriter) {
        writer.message(field) { writer in
            writer.string(1, bounded(attribute.key))
            writer.message(2) { write(attribute.value, to: &$0) }
        }
    }

    private static func write(_ value: SpanAttribute.Value, to writer: inout ProtobufWriter) {
        switch value {
        case .string(let text): writer.alwaysString(1, bounded(text))
        case .boolean(let isTrue): writer.alwaysInteger(2, isTrue ? 1 : 0)
        case .integer(let number): writer.alwaysInteger(3, number)
        case .double(let number): writer.alwaysFixed64(4, number.bitPattern)
        case .strings(let texts):
            writer.message(5) { writer in
                for text in texts.prefix(attributesMaximum) {
                    writer.message(1) { $0.alwaysString(1, bounded(text)) }
                }
            }
        }
    }

    private static func bounded(_ text: String) -> String { text.shortened(bytesMaximum: textBytesMaximum) }
}
