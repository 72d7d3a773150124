/// Decides which traces are recorded, by OpenTelemetry's samplers.
///
/// The decision follows from the context and from the number of the trace alone, so every service, and every retry of a
/// message, decides alike.
public struct Sampler: Hashable, Sendable {
    /// The decision for a trace without an earlier decision.
    public enum Root: Hashable, Sendable {
        /// Every trace.
        case alwaysOn
        /// No trace.
        case alwaysOff
        /// A part of all traces, from 0 to 1.
        ///
        /// The last 56 bits of the trace's number decide, as in OpenTelemetry's consistent probability sampling. So a
        /// trace that is recorded at one ratio is recorded at all higher ratios.
        case ratio(Double)
    }

    /// How a trace is decided on that begins here.
    public let root: Root
    /// Whether the flag of the sender's context decides, if there is a context.
    public let isParentBased: Bool

    /// Creates a sampler.
    public init(_ root: Root, isParentBased: Bool) {
        self.root = root
        self.isParentBased = isParentBased
    }

    /// Tells whether a span is recorded.
    ///
    /// - Parameters:
    ///   - traceID: its trace.
    ///   - parent: the context that came with the message; nil if the trace begins here.
    /// - Returns: whether it is recorded, which its own context says by the flag `sampled`.
    public func isSampled(_ traceID: TraceID, parent: TraceContext?) -> Bool {
        if isParentBased, let parent { return parent.isSampled }
        switch root {
        case .alwaysOn: return true
        case .alwaysOff: return false
        case .ratio(let ratio): return traceID.low & Self.randomBits >= Self.threshold(ratio)
        }
    }

    private static let randomBits: UInt64 = (1 << 56) - 1

    /// How many of 2^56 traces are not recorded.
    private static func threshold(_ ratio: Double) -> UInt64 {
        // Not a number is no part of anything.
        let bounded = ratio > 0 ? min(1, ratio) : 0
        return UInt64((1 - bounded) * 0x1p56)
    }
}
