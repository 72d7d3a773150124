/// The settings that our statements run with: how long they may take, and what the planner may choose.
///
/// A session that is ours alone keeps them. A session that a pooler lends to us and to others keeps nothing of ours:
/// there they come first in each transaction, and end with it.
public struct SessionSettings: Sendable {
    private let values: [(name: String, value: String)]
    /// Whether transactions may only read.
    private let isReadOnly: Bool

    /// No settings.
    public static let none = SessionSettings(values: [], isReadOnly: false)

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - values: the settings' names and values.
    ///   - isReadOnly: whether transactions may only read.
    public init(values: [(name: String, value: String)], isReadOnly: Bool) {
        self.values = values
        self.isReadOnly = isReadOnly
    }

    /// The statements that set up a session of our own; empty if there is nothing to set.
    var ofSession: String {
        var values = values
        if isReadOnly { values.append(("default_transaction_read_only", "on")) }
        // Transactions that write say it themselves.
        if !values.isEmpty { values.append(("default_transaction_isolation", "'read committed'")) }
        return values.map { "SET \($0.name) = \($0.value)" }.joined(separator: "; ")
    }

    /// The first call of each transaction of a shared session; nil if there is nothing to set.
    ///
    /// `SET LOCAL` would make the server warn in its log where no `BEGIN` came before.
    var ofTransaction: Call? {
        var values = values
        if isReadOnly { values.append(("transaction_read_only", "on")) }
        guard !values.isEmpty else { return nil }
        return Call("SELECT " + values.map { "set_config('\($0.name)', '\($0.value)', true)" }.joined(separator: ", "))
    }
}
