import Essentials

/// The number of a trace: 128 bits, not all of them zero.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Creates a number; nil if all bits are zero.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits in lower case.
    public var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// The number of a span within its trace: 64 bits, not all of them zero.
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    /// The bits.
    public let value: UInt64

    /// Creates a number; nil if all bits are zero.
    public init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// 16 hexadecimal digits in lower case.
    public var description: String { Hexadecimal.text(value) }
}

/// The place of a message or of a call in a trace, as it is handed on from one service to the next.
///
/// Source: W3C Trace Context (Recommendation of 2021, and its Level 2 for the second flag).
public struct TraceContext: Hashable, Sendable {
    /// The flags of a trace, of which two have a meaning.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates a set of flags.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The caller may have recorded its span.
        public static let sampled = Flags(rawValue: 1)
        /// The last 56 bits of the trace's number are random (Level 2).
        public static let random = Flags(rawValue: 2)
    }

    /// The trace.
    public let traceID: TraceID
    /// The span that the message or the call came from.
    public let spanID: SpanID
    /// The flags.
    public var flags: Flags
    /// The additions of vendors; nil for none.
    public var state: TraceState?

    /// Whether the caller may have recorded its span.
    public var isSampled: Bool { flags.contains(.sampled) }

    /// Creates a context.
    public init(traceID: TraceID, spanID: SpanID, flags: Flags, state: TraceState? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
    }
}

extension TraceContext {
    /// The length of a `traceparent` of version 00, in bytes.
    private static let lengthBytes = 55
    /// A later version may append members, which are passed over.
    private static let lengthBytesMaximum = 512

    /// Reads a `traceparent` (section 3.2); nil if it is malformed or a number is zero: then there is no context.
    ///
    /// - Parameter text: the value, in lower case: `00-TRACE-SPAN-FLAGS`. Of versions after 00 the members of version
    ///   00 count; version ff is invalid.
    public init?(traceParent text: UnsafeBufferPointer<UInt8>) {
        let dash = UInt8(ascii: "-")
        guard (Self.lengthBytes...Self.lengthBytesMaximum).contains(text.count),
            text[2] == dash, text[35] == dash, text[52] == dash,
            let version = Hexadecimal.number(text[0..<2]), version != 0xff,
            text.count == Self.lengthBytes || version > 0 && text[Self.lengthBytes] == dash,
            let high = Hexadecimal.number(text[3..<19]), let low = Hexadecimal.number(text[19..<35]),
            let span = Hexadecimal.number(text[36..<52]), let flags = Hexadecimal.number(text[53..<55]),
            let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
        else { return nil }
        let known: Flags = version == 0 ? [.sampled, .random] : .sampled
        let all = Flags(rawValue: UInt8(truncatingIfNeeded: flags))
        self.init(traceID: traceID, spanID: spanID, flags: all.intersection(known))
    }

    /// Reads a `traceparent` that is a string.
    public init?(traceParent text: String) {
        var text = text
        guard let context = text.withUTF8({ TraceContext(traceParent: $0) }) else { return nil }
        self = context
    }

    /// The `traceparent` for the next service, in version 00.
    public var traceParent: String {
        let flags = Hexadecimal.text(UInt64(flags.rawValue)).suffix(2)
        return "00-\(traceID)-\(spanID)-\(flags)"
    }
}

/// Hexadecimal digits in lower case, which alone the standard admits.
enum Hexadecimal {
    /// Reads up to 16 digits; nil if another character is among them.
    static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = HexadecimalDigits.value(ofLowercase: digit) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    /// Writes 16 digits.
    static func text(_ number: UInt64) -> String {
        withUnsafeBytes(of: number.bigEndian) { bytes in
            String(unsafeUninitializedCapacity: 16) { digits in
                HexadecimalDigits.write(bytes.bindMemory(to: UInt8.self), to: UnsafeMutableRawBufferPointer(digits))
                return 16
            }
        }
    }
}
