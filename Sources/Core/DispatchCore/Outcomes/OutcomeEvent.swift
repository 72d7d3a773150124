public import ChangeEvents
import Tracing

/// An event, as far as outcomes tell of it.
public struct OutcomeEvent: Sendable {
    /// The attribute `source`.
    let source: String
    /// The attribute `id`.
    let identifier: String
    /// Its type.
    let type: EventType
    /// Its content; nil if it could not be decoded.
    let kind: ChangeEvent.Kind?
    /// Its history.
    let retryState: RetryState
    /// The trace that its outcomes go on with.
    let trace: TraceContext?

    /// Takes what is told from an event.
    init(_ event: DecodedEvent) {
        source = event.event.source
        identifier = event.event.identifier
        type = event.type
        kind = event.event.kind
        retryState = event.retryState
        trace = event.trace?.context
    }

    /// Takes what can be read of an event that could not be decoded; nil if its type or `id` is not readable.
    public init?(_ outline: EventOutline, _ retryState: RetryState) {
        guard let identifier = outline.identifier, var text = outline.type,
            let type = text.withUTF8({ EventType(utf8: $0) })
        else { return nil }
        source = outline.source ?? ""
        self.identifier = identifier
        self.type = type
        kind = nil
        self.retryState = retryState
        trace = outline.trace
    }
}
