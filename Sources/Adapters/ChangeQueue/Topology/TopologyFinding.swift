/// How the broker's object compares with the one that Apus needs.
public struct TopologyFinding: Hashable, Sendable {
    /// The results of a comparison.
    public enum Status: Hashable, Sendable {
        /// It is there as it should be.
        case present
        /// It was not there and has been made.
        case created
        /// It is not there.
        case missing
        /// It is a work queue that no worker consumes while others are consumed, so it was not given events.
        case unconsumed
        /// It is a work queue more than the configuration asks for.
        ///
        /// `messageCount` counts those that no worker has; consumers that still hold some count as consumers.
        case surplus(messageCount: Int, consumerCount: Int)
        /// It is a work queue more than the configuration asks for, of which it could not be proven that it is empty.
        case unproven(String)
        /// It was a work queue more than the configuration asks for, empty and unconsumed, and has been deleted.
        case deleted
        /// It is there, and something of it is not as it should be.
        case different(argument: String, actual: String, wanted: String)
        /// It is there as it was declared, but policies of the broker change what it does.
        case overridden(policies: [String], conflicts: [PolicyConflict])
        /// The broker would not say.
        case unknown(String)
    }

    /// What was compared.
    public let object: TopologyObject
    /// How it compares.
    public let status: Status

    /// Whether nothing is left to do.
    public var isGood: Bool {
        switch status {
        case .present, .created, .deleted: true
        case .overridden(_, let conflicts): !conflicts.contains(where: \.losesMessages)
        case .missing, .unconsumed, .surplus, .unproven, .different, .unknown: false
        }
    }

    /// Whether what is left to do waits for the workers: applying again, later, does it.
    public var isPending: Bool {
        switch status {
        case .unconsumed, .surplus, .unproven: true
        case .present, .created, .deleted, .missing, .different, .overridden, .unknown: false
        }
    }

    /// One line: the object, what is there and what is wanted.
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
            "\(subject): more than work_queues asks for; it says that it is empty, but that could not be proven, so it "
                + "was not deleted: \(text); run `apus topology apply` again when all nodes of the broker are up"
        case .deleted: "\(subject): more than work_queues asks for, and empty: deleted"
        case .different(let argument, let actual, let wanted):
            "\(subject): \(argument) is \(actual), wanted \(wanted); an existing object cannot be changed: drain it, "
                + "delete it and run `apus topology apply`"
        case .overridden(let policies, let conflicts):
            "\(subject): present, but the policy \(policies.joined(separator: " and ")) changes what it does: "
                + conflicts.map(\.description).joined(separator: "; ")
                + (isGood ? "" : "; change the policy, or its pattern so that it leaves this queue out")
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
