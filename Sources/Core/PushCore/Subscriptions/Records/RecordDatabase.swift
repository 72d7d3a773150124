/// Which of CloudKit's databases a record lies in: who may see it.
public enum RecordDatabase: String, CaseIterable, Hashable, Sendable {
    /// Everyone's.
    case `public`
    /// One user's own.
    case `private`
    /// What other users share with one user.
    case shared

    /// CloudKit's number of it (`CKDatabase.Scope`).
    public var cloudKitNumber: Int {
        switch self {
        case .public: 1
        case .private: 2
        case .shared: 3
        }
    }

    /// The database with a number of CloudKit's, which is also what registries store; nil if there is none.
    public init?(cloudKitNumber: Int64) {
        guard let database = Self.allCases.first(where: { $0.cloudKitNumber == cloudKitNumber }) else { return nil }
        self = database
    }
}
