/// An answer of a push service or of its token endpoint, whether it is the right one or that of a fault.
public struct ServiceAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The meaning, for records and counts: the reason in the body, or the name of the refusal; nil for success.
    public var reason: String?
    /// The body, whether it is JSON or not.
    public var body: [UInt8]
    /// The header `content-type`; nil for none.
    public var contentType: String?
    /// The header `retry-after`: seconds, or a date.
    public var retryAfter: String?
    /// Further headers.
    public var headers: [AnswerHeader] = []
    /// The number of bytes of extra headers.
    public var extraHeaderBytes = 0

    /// Describes an answer without further headers.
    public init(
        status: Int = 200, reason: String? = nil, body: [UInt8] = [], contentType: String? = nil,
        retryAfter: String? = nil
    ) {
        self.status = status
        self.reason = reason
        self.body = body
        self.contentType = contentType
        self.retryAfter = retryAfter
    }

    /// Whether it says that the message was taken.
    public var isAcceptance: Bool { reason == nil && (200...201).contains(status) }
}

/// A header of an answer, with a name in lower case.
public struct AnswerHeader: Hashable, Sendable {
    /// The name.
    public var name: StaticString
    /// The value.
    public var value: String

    /// Creates a header.
    public init(_ name: StaticString, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether both have the same name and value.
    public static func == (left: AnswerHeader, right: AnswerHeader) -> Bool {
        left.name.description == right.name.description && left.value == right.value
    }

    /// Feeds name and value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.description)
        hasher.combine(value)
    }
}
