/// The result of comparing the broker's object with the one that Apus needs.
public struct TopologyFinding: Hashable, Sendable {
    /// The results of a comparison.
    public enum Status: Hashable, Sendable {
        /// It is there as it should be.
        case present
        /// It was not there and has been made.
        case created
        /// It is not there.
        case missing
        /// A work queue without a worker, while others have one; so it was not given events.
        case unconsumed
        /// It is a work queue more than the configuration asks for.
        ///
        /// `messageCount` counts the ready messages; consumers with unacknowledged messages count as consumers.
        case surplus(messageCount: Int, consumerCount: Int)
        /// A surplus work queue that could not be proven empty.
        case unproven(String)
        /// It is a retry queue of a step that the configuration does not have any more.
        case unusedRetry(messageCount: Int)
        /// The configuration did not ask for it, it was empty and unconsumed, and has been deleted.
        case deleted
        /// It is there, and something of it is not as it should be.
        case different(argument: String, actual: String, wanted: String)
        /// The object exists as declared, but policies of the broker change its behaviour.
        case overridden(policies: [String], conflicts: [PolicyConflict])
        /// It is there as far as this user may see, who may not configure it; comparing arguments takes that right.
        case uncompared(String)
        /// The broker would not say.
        case unknown(String)
    }

    /// The object that was compared.
    public let object: TopologyObject
    /// How it compares.
    public let status: Status

    /// Whether nothing has to be done.
    public var isGood: Bool {
        switch status {
        case .present, .created, .deleted, .unusedRetry: true
        case .overridden(_, let conflicts): !conflicts.contains(where: \.losesMessages)
        case .missing, .unconsumed, .surplus, .unproven, .different, .uncompared, .unknown: false
        }
    }

    /// Whether the rest of the work waits for the workers, so that applying again later finishes it.
    public var isPending: Bool {
        switch status {
        case .unconsumed, .surplus, .unproven: true
        case .present, .created, .deleted, .missing, .different, .overridden, .unusedRetry, .uncompared, .unknown:
            false
        }
    }

    /// Whether only the right to configure it is missing, which a worker does not need.
    public var isUncompared: Bool { if case .uncompared = status { true } else { false } }

    /// One line: the object, its state and the wanted state.
    public var description: String {
        let subject = "\(object.kind.rawValue) \(object.name)"
        return switch status {
        case .present: "\(subject): present"
        case .created: "\(subject): created"
        case .missing: "\(subject): missing; run `apus topology apply`"
        case .unconsumed:
            "\(subject): present, but no worker consumes it, so it gets no events yet; restart the workers with this "
                + "work_queues, then run `apus topology apply` again"
        case .surplus(let messageCount, let consumerCount):
            "\(subject): more than work_queues asks for, with \(Self.count(messageCount, "message")) and "
                + "\(Self.count(consumerCount, "consumer")); " + Self.advice(messageCount, consumerCount)
        case .unproven(let text):
            "\(subject): more than work_queues asks for; it seems empty, but that could not be proven, so it "
                + "was not deleted: \(text); run `apus topology apply` again when all nodes of the broker are up"
        case .unusedRetry(let messageCount):
            "\(subject): a step that retry.delays does not have any more, with \(Self.count(messageCount, "message")); "
                + "it empties by itself, and when all workers have the new retry.delays, "
                + "`apus topology apply --delete-unused-retries` deletes it"
        case .deleted: "\(subject): not asked for by the configuration, and empty: deleted"
        case .different(let argument, let actual, let wanted):
            "\(subject): \(argument) is \(actual), wanted \(wanted); an existing object cannot be changed: drain it, "
                + "delete it and run `apus topology apply`"
        case .overridden(let policies, let conflicts):
            "\(subject): present, but the policy \(policies.joined(separator: " and ")) changes its behaviour: "
                + conflicts.map(\.description).joined(separator: "; ")
                + (isGood ? "" : "; change the policy, or its pattern so that it leaves this queue out")
        case .uncompared(let text):
            "\(subject): not compared, because that takes the right to configure it, which a worker does not need: "
                + text
        case .unknown(let text): "\(subject): \(text)"
        }
    }

    private static func advice(_ messageCount: Int, _ consumerCount: Int) -> String {
        if consumerCount > 0 {
            return "restart the workers with this work_queues if that has not been done; they empty it, and "
                + "`apus topology apply` deletes it then"
        }
        if messageCount > 0 { return "start a worker, which empties it, then run `apus topology apply`" }
        return "`apus topology apply` deletes it"
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
