import Essentials
internal import JSON
import Messages
import Tracing

/// Where an event says which trace it belongs to.
///
/// 1. The attributes `traceparent` and `tracestate` of CloudEvents' distributed tracing extension: members of a
///    structured event, headers with the prefixes of a binary one. They are the trace that the event began in.
/// 2. The headers `traceparent` and `tracestate`, as OpenTelemetry's libraries for AMQP set them.
///
/// The first that can be read counts. An unreadable one is passed over, because a fault in a trace must not cost a
/// push. All of it lies in the publisher's own headers and body, which every copy of the message keeps: retries, chunks
/// and replays belong to the trace of their event.
extension TraceContext {
    /// Reads the headers of a message that are no attributes of CloudEvents; nil for all messages without a trace.
    ///
    /// - Parameter headers: the headers, whose names are in lower case.
    init?(headers: [MessageHeader]) {
        var parent: HeaderValue?
        var state: HeaderValue?
        for header in headers {
            if parent == nil, header.name == "traceparent" { parent = header.value }
            if state == nil, header.name == "tracestate" { state = header.value }
        }
        self.init(parent: parent, state: state)
    }

    /// Reads two headers.
    init?(parent: HeaderValue?, state: HeaderValue?) {
        guard let parent, let context = parent.readingText({ TraceContext(traceParent: $0) }) else { return nil }
        self = context
        self.state = state.flatMap { state in state.readingText { TraceState($0) } }
    }

    /// Reads the attributes of a structured event.
    init?(attributes: JSONObject) {
        guard let parent = attributes["traceparent"]?.withUTF8({ TraceContext(traceParent: $0) }) ?? nil else {
            return nil
        }
        self = parent
        state = attributes["tracestate"]?.withUTF8 { TraceState($0) } ?? nil
    }
}

extension HeaderValue {
    /// Reads the bytes of a text in place; nil for other values.
    fileprivate func readingText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        switch self {
        case .string(let text): text.readingUTF8(body)
        case .bytes(let bytes): bytes.withUnsafeBufferPointer(body)
        default: nil
        }
    }
}
