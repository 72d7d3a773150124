import Essentials

/// An entry of the audit log: an action of an operator, and its progress.
public struct AuditEntry: Hashable, Sendable {
    /// The kinds of actions; the raw value is the name for programs.
    public enum Action: String, CaseIterable, Sendable {
        /// Moves dead letters from RabbitMQ's queue to the registry.
        case collectDeadLetters = "dead-letters.collect"
        /// Puts dead letters back to work.
        case replayDeadLetters = "dead-letters.replay"
        /// Deletes dead letters.
        case purgeDeadLetters = "dead-letters.purge"
        /// Cancels a large fan-out.
        case cancelFanOut = "fan-out.cancel"
        /// Sends a test push.
        case sendTestPush = "test-push.send"
        /// Pauses an app, or all.
        case pause
        /// Ends a pause.
        case resume
    }

    /// How far an action is.
    ///
    /// | state | means | can transition to |
    /// |---|---|---|
    /// | running | it has begun | done, failed |
    /// | done | it has ended as asked | none |
    /// | failed | it has ended early; `detail` says why | none |
    public enum State: String, CaseIterable, Sendable {
        /// It has begun, and its process may have ended since.
        case running
        /// It has ended as asked.
        case done
        /// It has ended early.
        case failed
    }

    /// The part of an entry that changes.
    public struct Progress: Hashable, Sendable {
        /// How far it is.
        public var state: State
        /// On how many things it was done so far.
        public var doneCount: Int
        /// How many things refused it.
        public var refusedCount: Int
        /// Why it failed or what it left out, for people.
        public var detail: String?
        /// When this was noted, in milliseconds since 1970.
        public var changedAtMilliseconds: Int64

        /// Creates a note.
        public init(
            _ state: State, doneCount: Int = 0, refusedCount: Int = 0, detail: String? = nil,
            changedAtMilliseconds: Int64
        ) {
            self.state = state
            self.doneCount = max(0, doneCount)
            self.refusedCount = max(0, refusedCount)
            self.detail = detail
            self.changedAtMilliseconds = WallTime(milliseconds: changedAtMilliseconds).milliseconds
        }
    }

    /// Its number among the entries; 0 before it is stored.
    public var number: Int64 = 0
    /// When it was asked for, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// The user who asked for it.
    public var user: String
    /// The role of the user.
    public var role: String
    /// The address of the user, in numbers.
    public var address: String
    /// The process that does it.
    public var process: String
    /// The action, one of `Action` if this program wrote it.
    public var action: String
    /// The target of the action, for people: a filter, a number, a device.
    public var target: String
    /// How many things were selected.
    public var selectedCount: Int
    /// How far it is.
    public var progress: Progress

    /// Creates an entry.
    public init(
        atMilliseconds: Int64, user: String, role: String, address: String, process: String, action: String,
        target: String, selectedCount: Int, progress: Progress
    ) {
        self.atMilliseconds = WallTime(milliseconds: atMilliseconds).milliseconds
        self.user = user
        self.role = role
        self.address = address
        self.process = process
        self.action = action
        self.target = target
        self.selectedCount = max(0, selectedCount)
        self.progress = progress
    }
}

/// How much of the audit log is kept.
public enum AuditRules {
    /// How many entries are kept, the newest ones.
    public static let keptCount: Int64 = 100_000
}
