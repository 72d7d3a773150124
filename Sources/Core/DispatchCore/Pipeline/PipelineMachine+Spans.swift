import Essentials
public import Tracing

/// The spans of recorded events.
extension PipelineMachine {
    /// Takes the spans that have ended since the last call.
    public mutating func takeSpans() -> [Span] { spans?.takeFinished() ?? [] }

    /// Notes what happened to recorded deliveries in this tick.
    mutating func recordSpans(at now: Moment) {
        for (tag, attempt) in actions.dispatch.attempts { spans?.pushEnded(tag, attempt, at: now) }
        for copy in actions.dispatch.copies {
            spans?.copyPublished(
                copy.tag, to: copy.queue, reason: copy.reason, outcome: copy.outcome, begun: copy.begun, at: now)
        }
        for rejection in actions.dispatch.rejections {
            for tag in rejection.tags { spans?.deliveryEnded(tag, .rejected(reason: "rejected"), at: now) }
        }
        for tag in actions.dispatch.settles { spans?.deliveryEnded(tag, .settled, at: now) }
    }
}
