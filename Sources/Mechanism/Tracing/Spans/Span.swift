/// A span that has ended: something that a service did, from when to when, as part of which trace.
///
/// Source: OpenTelemetry's specification, "Tracing API", and the message `Span` of its protocol.
public struct Span: Hashable, Sendable {
    /// The part of a service in a call; the raw values are those of the protocol.
    public enum Kind: UInt8, Sendable {
        /// Within the service.
        case `internal` = 1
        /// The answer to a call.
        case server
        /// A call to another service.
        case client
        /// The sending of a message.
        case producer
        /// The processing of a message.
        case consumer
    }

    /// Whether it went well.
    public enum Status: Hashable, Sendable {
        /// Nothing is said, which is usual.
        case unset
        /// An operator has to know that it went well.
        case ok
        /// It failed, with the reason.
        case error(String)
    }

    /// Its own place in the trace.
    public var context: TraceContext
    /// The span that it is a part of; nil if the trace begins with it.
    public var parent: SpanID?
    /// Whether the parent is another process's.
    public var isParentRemote: Bool
    /// Its kind.
    public var kind: Kind
    /// The name of the operation: one of few texts, without identifiers.
    public var name: String
    /// When it began, in nanoseconds since 1970.
    public var startNanoseconds: UInt64
    /// When it ended, in nanoseconds since 1970.
    public var endNanoseconds: UInt64
    /// The facts.
    public var attributes: [SpanAttribute]
    /// Other spans that caused it, for example the senders of a batch of messages.
    public var links: [TraceContext]
    /// Whether it went well.
    public var status: Status

    /// Creates a span.
    public init(
        _ name: String, kind: Kind, context: TraceContext, parent: SpanID?, isParentRemote: Bool = false,
        startNanoseconds: UInt64, endNanoseconds: UInt64, attributes: [SpanAttribute] = [],
        links: [TraceContext] = [], status: Status = .unset
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.isParentRemote = isParentRemote
        self.startNanoseconds = startNanoseconds
        self.endNanoseconds = endNanoseconds
        self.attributes = attributes
        self.links = links
        self.status = status
    }
}

/// One fact about a span or a service.
public struct SpanAttribute: Hashable, Sendable {
    /// The kinds of value.
    public enum Value: Hashable, Sendable {
        /// A text.
        case string(String)
        /// A whole number.
        case integer(Int64)
        /// A number with a fraction.
        case double(Double)
        /// Yes or no.
        case boolean(Bool)
        /// Several texts.
        case strings([String])
    }

    /// The name, for example `messaging.system`.
    public var key: String
    /// The value.
    public var value: Value

    /// Creates an attribute with a text.
    public init(_ key: String, _ value: String) { self.init(key, .string(value)) }

    /// Creates an attribute with a whole number.
    public init(_ key: String, _ value: some BinaryInteger) { self.init(key, .integer(Int64(clamping: value))) }

    /// Creates an attribute.
    public init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }
}

/// Takes spans that have ended; the port of whatever exports them.
public protocol SpanSink: Sendable {
    /// Takes spans; any thread may call it, and it never waits.
    func submit(_ spans: [Span])
}
