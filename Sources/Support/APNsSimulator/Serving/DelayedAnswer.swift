/// An answer that waits for its time.
struct DelayedAnswer {
    let dueNanoseconds: UInt64
    let sequence: UInt64
    let connection: SimulatorConnection
    let request: RequestState
    let generation: Int
    let answerIndex: Int

    /// Answers that are due at the same time keep the order in which they were decided.
    func isDue(before other: DelayedAnswer) -> Bool {
        (dueNanoseconds, sequence) < (other.dueNanoseconds, other.sequence)
    }
}
