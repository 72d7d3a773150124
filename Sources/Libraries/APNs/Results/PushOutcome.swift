/// How a push ended: one of three, which are never confused.
public enum PushOutcome: Hashable, Sendable {
    /// APNs has it.
    case accepted
    /// APNs looked at it and does not take it.
    case rejected(PushRejection)
    /// There was no answer.
    case failed(PushFailure)
}
