import ChangeEvents

/// The rows that a relay has under way: what became of each, and what is to be done when all have ended.
struct RelayBatch {
    /// The rows that make no event, or that RabbitMQ takes under no circumstances, with the reasons.
    private(set) var refused: [(number: Int64, reason: String)]
    /// The numbers of the rows that RabbitMQ has.
    private(set) var published: [Int64] = []
    /// Why a row stays: RabbitMQ did not take it; nil if it took all.
    private(set) var problem: String?
    private var open: Set<Int64>

    /// Begins a batch.
    ///
    /// - Parameters:
    ///   - publishing: the numbers of the rows that are published.
    ///   - refused: those that make no event.
    init(publishing: [Int64], refused: [(number: Int64, reason: String)]) {
        open = Set(publishing)
        self.refused = refused
    }

    /// Whether all publishes have ended.
    var isComplete: Bool { open.isEmpty }

    /// A publish ended; one that is not of this batch is passed over.
    mutating func ended(_ identifier: UInt64, _ outcome: PublishOutcome) {
        let number = Int64(truncatingIfNeeded: identifier)
        guard open.remove(number) != nil else { return }
        switch outcome {
        case .confirmed: published.append(number)
        case .returned(let reason): problem = "no queue takes events (\(reason)); run `apus topology apply`"
        case .refused: problem = "RabbitMQ refuses events, perhaps because a queue is full"
        case .rejected(let reason): refused.append((number, "RabbitMQ takes it under no circumstances: \(reason)"))
        }
    }
}
